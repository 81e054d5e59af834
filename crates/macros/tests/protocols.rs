//! What a protocol may look like, none of which gives a warning.
#![deny(warnings, missing_docs, unreachable_pub, private_interfaces)]

use gossamer::{Wait, protocol};

/// Known here alone.
#[derive(Debug, PartialEq)]
struct Money(u32);

protocol! {
    /// The second of the two begins; types of messages are private, raw names are names, commas may be left out.
    protocol Late between buyer and seller {
        /// What there is.
        Offer: seller {
            /// For so much.
            r#for(Money) -> Answer,
            nothing_left() -> End,
        }
        #[derive(Debug, PartialEq)]
        Answer: buyer { take -> End, leave_it(Money, &'static str) -> End }
    }
}

#[test]
fn the_second_side_may_begin() {
    use late::{Answer, Offer};
    let (buyer, seller) = late::pipe();
    let sold = seller.r#for(Money(5)).expect("it waits");
    let Ok(Offer::For(money, buyer)) = buyer.recv().wait() else {
        panic!("it was sent")
    };
    assert_eq!(money, Money(5));
    assert!(buyer.leave_it(money, "too much").is_ok());
    assert_eq!(
        sold.recv().wait(),
        Ok(Answer::LeaveIt(Money(5), "too much"))
    );
    let (buyer, seller) = late::local_pipe();
    seller.nothing_left().expect("it waits");
    assert!(matches!(buyer.recv().wait(), Ok(Offer::NothingLeft)));
}

protocol! {
    /// Parameters are where they are needed: the last enum has only one of them.
    pub protocol Two<T, U> between one and other {
        First: one { first(T, Vec<U>) -> Last },
        Last: other { last(Option<U>) -> End, none -> End },
    }
}

#[test]
fn parameters_are_where_they_are_needed() {
    let (one, other) = two::pipe::<&str, u8>();
    let waiting: two::one::Last<&str, u8> = one.first("a", vec![1]).expect("it waits");
    let two::First::First(text, bytes, other) = other.recv().wait().expect("it was sent");
    assert_eq!(text, "a");
    other.last(bytes.first().copied()).expect("it waits");
    let last: two::Last<u8> = waiting.recv().wait().expect("it was sent");
    assert!(matches!(last, two::Last::Last(Some(1))));
}

/// A type of a message, called as the flavour often is.
#[derive(Debug, PartialEq)]
pub struct P(u32);

/// Called as a state is.
#[derive(Debug, PartialEq)]
pub struct Round(u32);

/// Where the facade may be.
mod renamed {
    pub(crate) use gossamer as inner;
}

protocol! {
    crate = crate::renamed::inner;
    /// Keywords: the module is called `r#match`.
    protocol Match<T> between r#in and out {
        Round: r#in { play(P, super::Round, T) -> Round, r#type -> End },
    }
}

#[test]
fn names_may_be_keywords() {
    let (r#in, out) = r#match::pipe();
    let full = r#in.play(P(1), Round(2), 3).expect("it waits");
    let Ok(r#match::Round::Play(P(1), Round(2), 3, out)) = out.recv().wait() else {
        panic!("it was sent")
    };
    let r#in: r#match::r#in::Round<i32> = full.ready().wait().expect("it waits");
    r#in.r#type().expect("it waits");
    assert!(matches!(out.recv().wait(), Ok(r#match::Round::Type)));
}
