//! A bank account behind a pipe: who may say what, and when, is checked by the compiler.
//!
//! Each customer gets an endpoint of its own in a message to the bank; the same account serves a task, a fiber and a
//! thread.

use std::error::Error;

use gossamer::channel::{SendError, unbounded};
use gossamer::{Fibers, Model, Runtime, Wait, protocol};

protocol! {
    /// An account, as its owner sees it. Money is taken out only after the bank has said how much there is.
    protocol Account between customer and bank {
        /// What the customer wants.
        Wish: customer {
            deposit(u64) -> Balance,
            look -> Balance,
            withdraw(u64) -> Decision,
            leave -> End,
        },
        /// How much there is.
        Balance: bank { balance(u64) -> Wish },
        /// Whether the money is there. What is refused ends nothing.
        Decision: bank { granted(u64) -> Wish, refused(u64) -> Wish },
    }
}
use account::{Balance, Decision, Wish, bank, customer};

/// Serves one customer until it leaves; the new balance.
///
/// A customer that goes without a word is as good as one that leaves: `Err` from `recv` or from sending.
fn serve(mut at: bank::Wish, mut balance: u64) -> u64 {
    loop {
        let answered: Result<_, SendError<u64>> = match at.recv().wait() {
            Ok(Wish::Deposit(amount, answer)) => {
                balance += amount;
                answer.balance(balance)
            }
            Ok(Wish::Look(answer)) => answer.balance(balance),
            Ok(Wish::Withdraw(amount, answer)) if amount <= balance => {
                balance -= amount;
                answer.granted(amount)
            }
            Ok(Wish::Withdraw(_, answer)) => answer.refused(balance),
            Ok(Wish::Leave) | Err(_) => return balance,
        };
        match answered {
            Ok(next) => at = next,
            Err(_) => return balance,
        }
    }
}

/// Puts money in, and takes more out than there is: how much it gets in the end.
async fn spend(
    at: customer::Wish,
    amount: u64,
    most: u64,
) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let Balance::Balance(_, at) = at.deposit(amount)?.recv().await?;
    let (got, at) = match at.withdraw(most)?.recv().await? {
        Decision::Granted(got, at) => (got, at),
        Decision::Refused(rest, at) => match at.withdraw(rest)?.recv().await? {
            Decision::Granted(got, at) => (got, at),
            Decision::Refused(_, at) => (0, at),
        },
    };
    at.leave()?;
    Ok(got)
}

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: no code here, nor in the dependencies, waits while it uses a thread-local like a stack, or initialises
    // one.
    let fibers = unsafe { Fibers::contract() };
    let rt = Runtime::builder()
        .model(Model::Single)
        .fibers(fibers)
        .build()?;
    let (platform, arriving) = unbounded::<bank::Wish>();
    let bank = rt.spawn_fiber(move || {
        // One customer after the other.
        let mut balance = 0;
        for at in &arriving {
            balance = serve(at, balance);
        }
        balance
    });
    let enter = || {
        let (customer, bank) = account::pipe();
        platform.try_send(bank).expect("the bank is open");
        customer
    };

    let task = rt.spawn(spend(enter(), 100, 70));
    println!(
        "the task got {:?}",
        task.wait()?.map_err(|error| error as Box<dyn Error>)?
    );
    let fiber = {
        let at = enter();
        rt.spawn_fiber(move || spend(at, 10, 70).wait())
    };
    println!(
        "the fiber got {:?}",
        fiber.wait()?.map_err(|error| error as Box<dyn Error>)?
    );

    let Balance::Balance(rest, at) = enter().look()?.recv().wait()?;
    println!("there is {rest} left");
    drop(at.deposit(5)?); // and goes without waiting for the answer
    drop(platform);
    println!("the bank has {}", bank.wait()?);
    Ok(())
}
