//! `bank`, Savina's `banking`: a teller has accounts pay each other; one that pays waits until the other one has the
//! money before it does anything else.

use std::sync::Arc;

use crate::random::Random;
use crate::{MOST, Mail, NoSecond, Number, Tasks, count};

/// What an account has at the beginning.
const BALANCE: u64 = 1_000_000;

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Bank {
    transactions: u64,
    accounts: usize,
}

impl Bank {
    /// Its options, `--kind` first.
    pub const OPTIONS: &[&str] = &["--kind", "--transactions", "--accounts"];

    /// The numbers of the options, or the published ones.
    ///
    /// # Errors
    /// Fewer than ten accounts, or what `number` says.
    pub fn of(number: impl Number) -> Result<Self, String> {
        let accounts = count(&number, "--accounts", 1_000)?;
        if accounts < 10 {
            return Err(format!("--accounts {accounts}: expected at least 10"));
        }
        let transactions = number("--transactions", 50_000)?;
        Ok(Self {
            transactions,
            accounts,
        })
    }
}

enum Message {
    /// Pay so much to the account with this number.
    Pay(u64, usize),
    /// This is from the account with this number.
    Receive(u64, usize),
    Stop,
}

/// The accounts give their balances, and the teller the number of transactions.
pub fn bank<M: Mail>(
    asked: Bank,
) -> Tasks<impl Future<Output = u64> + use<M>, NoSecond, impl Future<Output = u64> + use<M>> {
    let (txs, inboxes): (Vec<_>, Vec<_>) = (0..asked.accounts)
        .map(|_| M::mailbox::<Message>(usize::MAX))
        .unzip();
    let (replies, replied): (Vec<_>, Vec<_>) = (0..asked.accounts).map(|_| M::mailbox(1)).unzip();
    let (txs, replies): (Arc<[_]>, Arc<[_]>) = (txs.into(), replies.into());
    let (done, to_teller) = M::mailbox(usize::MAX);
    let accounts = (0..)
        .zip(inboxes.into_iter().zip(replied))
        .map(|(id, ends)| account::<M>(id, txs.clone(), replies.clone(), ends, done.clone()));
    Tasks {
        first: accounts.collect(),
        second: Vec::new(),
        one: teller::<M>(asked.transactions, txs.clone(), to_teller),
    }
}

async fn teller<M: Mail>(
    transactions: u64,
    accounts: Arc<[M::Tx<Message>]>,
    mut inbox: M::Rx<()>,
) -> u64 {
    let mut random = Random::new(123_456);
    for _ in 0..transactions {
        // The one that pays has the lower number, so no circle of them waits.
        let from = random.below(accounts.len() / 10 * 8);
        let to = from + random.below(accounts.len() - from).max(1);
        let amount = 1_000_000 / (random.next() + 1);
        M::send(&accounts[from], Message::Pay(amount, to));
    }
    let (mut done, mut replies) = (0, Vec::with_capacity(MOST));
    while done < transactions && M::recv_many(&mut inbox, &mut replies, MOST).await {
        done += replies.drain(..).count() as u64;
    }
    for account in accounts.iter() {
        M::send(account, Message::Stop);
    }
    done
}

async fn account<M: Mail>(
    id: usize,
    accounts: Arc<[M::Tx<Message>]>,
    replies: Arc<[M::Tx<()>]>,
    (mut inbox, mut replied): (M::Rx<Message>, M::Rx<()>),
    teller: M::Tx<()>,
) -> u64 {
    let mut balance = BALANCE;
    while let Some(message) = M::recv(&mut inbox).await {
        match message {
            Message::Pay(amount, to) => {
                balance = balance.wrapping_sub(amount);
                M::send(&accounts[to], Message::Receive(amount, id));
                M::recv(&mut replied).await;
                M::send(&teller, ());
            }
            Message::Receive(amount, from) => {
                balance = balance.wrapping_add(amount);
                M::send(&replies[from], ());
            }
            Message::Stop => break,
        }
    }
    balance
}
