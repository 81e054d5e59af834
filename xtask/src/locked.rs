//! Looks for locked instructions where none may be: in the ring of static tasks on one core.
//!
//! It reads the disassembly of the program that the lab measures. The ring of several cores, the same source with
//! atomic words, shows each time that the look finds what it looks for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// A function, and those that it calls or jumps to if they are of static tasks, too.
const ONE_CORE: &str = "gossamer_contender::fixed::one_core::run";
const SEVERAL_CORES: &str = "gossamer_contender::fixed::several_cores::run";
const STATIC_TASKS: &str = "gossamer_core::fixed::";

/// What stands in a disassembly: the functions, by their address in its digits.
type Functions<'a> = BTreeMap<&'a str, Function<'a>>;

struct Function<'a> {
    name: &'a str,
    instructions: Vec<&'a str>,
}

/// Looks at the program; answers whether it is as it should be. Without objdump nobody knows, and that is said.
///
/// # Errors
/// When objdump fails, or the program does not have the functions.
pub fn check(program: &Path) -> Result<bool> {
    if !cfg!(target_arch = "x86_64") || !has_objdump() {
        println!(
            "locked instructions: not looked for: that needs x86-64 and objdump (apt-get install binutils)"
        );
        return Ok(true);
    }
    let output = Command::new("objdump")
        .args(["--disassemble", "--no-show-raw-insn", "--demangle"])
        .arg(program)
        .output()
        .context("cannot start objdump")?;
    ensure!(
        output.status.success(),
        "objdump: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let functions = functions(&text);
    let (one, of_one) = locked(&functions, ONE_CORE)?;
    let (several, of_several) = locked(&functions, SEVERAL_CORES)?;
    println!(
        "locked instructions: {} of {of_one} in static tasks of one core, {} of {of_several} in those of several",
        one.len(),
        several.len()
    );
    for instruction in &one {
        println!("  expected none of one core: {instruction}");
    }
    if several.is_empty() {
        println!("  expected some of several cores: the look finds nothing");
    }
    Ok(one.is_empty() && !several.is_empty())
}

fn has_objdump() -> bool {
    let version = Command::new("objdump")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// A function begins with `0000000000042810 <its name>:`, an instruction with spaces, its address and a colon.
fn functions(text: &str) -> Functions<'_> {
    let mut functions = Functions::new();
    let mut address = "";
    for line in text.lines() {
        if let Some((digits, name)) = line
            .strip_suffix(">:")
            .and_then(|line| line.split_once(" <"))
        {
            address = digits.trim_start_matches('0');
            let instructions = Vec::new();
            functions.insert(address, Function { name, instructions });
        } else if line.starts_with(' ')
            && let Some((_, instruction)) = line.split_once(":\t")
            && let Some(function) = functions.get_mut(address)
        {
            function.instructions.push(instruction.trim());
        }
    }
    functions
}

/// The locked instructions of the function of this name and of the static tasks' functions that it reaches; and how
/// many instructions those have in all.
fn locked<'a>(functions: &Functions<'a>, name: &str) -> Result<(Vec<&'a str>, usize)> {
    let first = functions.iter().find(|(_, function)| function.name == name);
    let (first, _) = first.with_context(|| format!("the program has no {name}"))?;
    let (mut reached, mut next) = (BTreeSet::from([*first]), vec![*first]);
    let (mut locked, mut total) = (Vec::new(), 0);
    while let Some(function) = next.pop().and_then(|address| functions.get(address)) {
        total += function.instructions.len();
        locked.extend(function.instructions.iter().filter(|text| is_locked(text)));
        for address in function.instructions.iter().filter_map(|text| target(text)) {
            let is_ours = functions
                .get(address)
                .is_some_and(|to| to.name.contains(STATIC_TASKS));
            if is_ours && reached.insert(address) {
                next.push(address);
            }
        }
    }
    Ok((locked, total))
}

/// Where a call or jump to a function goes, or a pointer to it comes from.
fn target(instruction: &str) -> Option<&str> {
    let (before, name) = instruction.split_once(" <")?;
    let is_beginning = !name.contains("+0x");
    let address = before.split_whitespace().next_back()?;
    is_beginning.then_some(address)
}

/// Whether a processor has its cache line to itself for this: the prefix says it, and an exchange with memory has it
/// unsaid.
fn is_locked(instruction: &str) -> bool {
    let mut words = instruction.split_whitespace();
    let is_exchange = instruction.starts_with("xchg") && instruction.contains('(');
    is_exchange || words.any(|word| word == "lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
0000000000042810 <gossamer_contender::fixed::one_core::run>:
   42810:\tmovzwl 0x8197b(%rip),%edi        # c42d4 <RING+0x4>
   42817:\tcall   42900 <gossamer_core::fixed::Pool<F,_,W>::turn_round>
   4281c:\tcall   42a00 <std::panicking::begin>
   42821:\tje     42817 <gossamer_contender::fixed::one_core::run+0x7>
   42823:\txchg   %ax,%ax

0000000000042900 <gossamer_core::fixed::Pool<F,_,W>::turn_round>:
   42900:\tret

0000000000042a00 <std::panicking::begin>:
   42a00:\tlock incl 0x8(%rax)

0000000000042b00 <gossamer_contender::fixed::several_cores::run>:
   42b00:\tjmp    42c00 <gossamer_core::fixed::Pool<F,_,W>::turn_round>

0000000000042c00 <gossamer_core::fixed::Pool<F,_,W>::turn_round>:
   42c00:\txchg   %di,0x811da(%rip)        # c36f4 <RING+0x4>
   42c07:\tdata16 lock cmpxchg %r11w,0x4(%r8)
   42c0e:\tjmp    42c00 <gossamer_core::fixed::Pool<F,_,W>::turn_round>
";

    #[test]
    fn locked_instructions_are_found_where_they_are_reached() {
        let functions = functions(TEXT);
        let (one, of_one) = locked(&functions, ONE_CORE).expect("there");
        assert_eq!((one.as_slice(), of_one), (&[][..], 6));
        let (several, of_several) = locked(&functions, SEVERAL_CORES).expect("there");
        assert_eq!((several.len(), of_several), (2, 4));
        assert!(locked(&functions, "elsewhere").is_err());
    }
}
