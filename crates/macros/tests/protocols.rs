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

protocol! {
    /// A keyword since edition 2024: the module is called `r#gen`.
    protocol Gen between one and other { Only: one { only -> End } }
}

#[test]
fn names_may_be_new_keywords() {
    let (one, other) = r#gen::pipe();
    one.only().expect("it waits");
    assert!(matches!(other.recv().wait(), Ok(r#gen::Only::Only)));
}

/// A length that is called as a state is.
const N: usize = 2;

/// What is sent with `given`.
type Given = (Box<dyn Iterator<Item = u8> + Send>, fn(u8) -> u8);

protocol! {
    /// In types of messages, names of states that mean something else, so it is not they that are meant.
    #[allow(non_camel_case_types)]
    protocol Elsewhere<T> between one and other {
        Item: one { given(Box<dyn Iterator<Item = u8> + Send>, fn(word: u8) -> u8) -> N },
        N: one { array([u8; N]) -> word },
        word: one { called(for<'a> fn(&'a T) -> &'a T) -> a },
        a: one { last(T) -> End },
    }
}

#[test]
fn names_of_states_may_mean_something_else_in_types() {
    let (one, other) = elsewhere::pipe();
    let given: Given = (Box::new([1, 2].into_iter()), |word| word + 1);
    let full = one.given(given.0, given.1).expect("it waits");
    let Ok(elsewhere::Item::Given(bytes, add, other)) = other.recv().wait() else {
        panic!("it was sent")
    };
    assert_eq!(bytes.map(add).collect::<Vec<_>>(), [2, 3]);
    let one = full.ready().wait().expect("it was received");
    let full = one.array([0; N]).expect("it waits");
    let Ok(elsewhere::N::Array([0, 0], other)) = other.recv().wait() else {
        panic!("it was sent")
    };
    let one = full.ready().wait().expect("it was received");
    let full = one.called(|same| same).expect("it waits");
    let Ok(elsewhere::word::Called(same, other)) = other.recv().wait() else {
        panic!("it was sent")
    };
    let one = full.ready().wait().expect("it was received");
    one.last(7).expect("it waits");
    let Ok(elsewhere::a::Last(last)) = other.recv().wait() else {
        panic!("it was sent")
    };
    assert_eq!(same(&last), &7);
}

/// A protocol whose names are given from outside: each of the three ways to go on.
macro_rules! given_names {
    ($name:ident, $state:ident, $again:ident, $turn:ident, $leave:ident) => {
        protocol! {
            /// Names from outside.
            protocol $name between one and other {
                $state: one { $again(u8) -> $state, $turn -> Answer, $leave -> End },
                Answer: other { answer -> $state },
            }
        }
    };
}
given_names!(Outer, Asked, again, turn, leave);

#[test]
fn names_may_come_through_a_macro() {
    let (one, other) = outer::pipe();
    let full = one.again(1).expect("it waits");
    let Ok(outer::Asked::Again(1, other)) = other.recv().wait() else {
        panic!("it was sent")
    };
    let one = full.ready().wait().expect("it was received");
    let one = one.turn().expect("it waits");
    let Ok(outer::Asked::Turn(other)) = other.recv().wait() else {
        panic!("it was sent")
    };
    let other = other.answer().expect("it waits");
    let Ok(outer::Answer::Answer(one)) = one.recv().wait() else {
        panic!("it was sent")
    };
    one.leave().expect("it waits");
    assert!(matches!(other.recv().wait(), Ok(outer::Asked::Leave)));
}
