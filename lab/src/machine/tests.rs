//! What is read from `/proc`.

use super::{Machine, field_of};

const CPUINFO: &str = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\n\
    model name\t: Some Processor\nstepping\t: 8\nprocessor\t: 1\nmodel\t\t: 9\n";

/// One key begins as another one does.
#[test]
fn a_key_is_the_whole_key() {
    let fields = ["cpu family", "model", "model name", "stepping", "model n"]
        .map(|key| field_of(CPUINFO, key));
    let expected = [
        Some("6"),
        Some("143"),
        Some("Some Processor"),
        Some("8"),
        None,
    ];
    assert_eq!(fields.each_ref().map(Option::as_deref), expected);
    assert_eq!(field_of("NAME=\"a b\"\n", "NAME").as_deref(), Some("a b"));
}

#[test]
fn processors_of_one_name_are_told_apart() {
    let mut machine = Machine {
        cpu: "Some Processor".into(),
        ..Machine::default()
    };
    assert_eq!(machine.processor(), "Some Processor", "an old record");
    machine.cpu_family = "6".into();
    machine.cpu_model = "143".into();
    machine.cpu_stepping = "unknown".into();
    assert_eq!(machine.processor(), "Some Processor (family 6 model 143)");
}
