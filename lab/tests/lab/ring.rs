//! The real list on contenders that a C compiler is enough for: small rings, every order.

use crate::support::{Place, stderr};

const C: [&str; 5] = [
    "protothreads/optimum",
    "protothreads/goto",
    "protothreads/pessimum",
    "protothreads/queue",
    "pthreads",
];

#[test]
fn rings_of_one_and_two_and_more_in_every_order() {
    let place = Place::empty();
    let only = C.join(",");
    for (threads, order) in [
        (1, "forward"),
        (1, "shuffled"),
        (2, "forward"),
        (2, "reverse"),
        (7, "shuffled"),
    ] {
        let output = place.run(&format!(
            "run ring --threads {threads} --hops 1000 --order {order} --runs 1 --only {only} \
             --json results.json"
        ));
        assert!(output.status.success(), "{}", stderr(&output));
        for name in C {
            let row = place.row("results.json", name);
            assert_eq!(row["status"], "ok", "{row:#}");
        }
    }
}

#[test]
fn an_explicit_size_is_everybodys() {
    let place = Place::empty();
    let words = format!(
        "run ring --hops 1234 --runs 1 --json x.json --only {}",
        C.join(",")
    );
    let output = place.run(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    for name in C {
        assert_eq!(place.row("x.json", name)["ops"], 1234);
    }
}
