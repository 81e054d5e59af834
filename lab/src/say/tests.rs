//! What becomes of words that cannot be written.

use super::*;

struct Closed(ErrorKind);

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_is_no_problem_and_a_full_disk_is() {
    let problem = |kind| attempt(&mut Closed(kind), format_args!("{} and {}", 1, 2));
    assert!(problem(ErrorKind::BrokenPipe).is_none());
    let full = problem(ErrorKind::StorageFull).expect("a problem");
    assert_eq!(full.kind(), ErrorKind::StorageFull);
}

#[test]
fn words_arrive() {
    let mut text = Vec::new();
    assert!(attempt(&mut text, format_args!("{:>3}|", 7)).is_none());
    assert_eq!(text, b"  7|");
}
