//! What a simulated test becomes where the feature `sim` is not.

fn main() {
    gossamer::__needs_sim! { gossamer::sim::test() }
}
