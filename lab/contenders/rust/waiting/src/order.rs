//! The order in which members are made, or places used.

/// Each of `count` indices once, in the order of this name.
///
/// # Errors
/// There is no such order.
pub fn order(count: usize, name: &str) -> Result<Vec<usize>, String> {
    let mut order: Vec<usize> = (0..count).collect();
    match name {
        "forward" => {}
        "reverse" => order.reverse(),
        "shuffled" => shuffle(&mut order),
        other => {
            return Err(format!(
                "--order {other}: expected forward, reverse or shuffled"
            ));
        }
    }
    Ok(order)
}

/// Fisher and Yates over splitmix64 with the seed that all contenders use.
fn shuffle(order: &mut [usize]) {
    let mut state = 503_u64;
    for last in (1..order.len()).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let other = (mixed ^ (mixed >> 31)) % (last as u64 + 1);
        order.swap(last, other as usize);
    }
}
