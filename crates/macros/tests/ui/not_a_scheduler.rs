//! A scheduler is a type of one's own that implements the trait.

use gossamer::Runtime;

struct Mine;

fn main() {
    let _ = Runtime::builder().scheduler(Mine);
}
