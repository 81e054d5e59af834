(* nucleotides FILE: k-nucleotide of the Benchmarks Game, on one thread: OCaml 4 runs one at a time. *)

module Keys = Hashtbl.Make (struct
  type t = int

  let equal : int -> int -> bool = ( = )

  (* The high bits of the product are the mixed ones; a table looks at the low ones. *)
  let hash key = (key * 0x2545F4914F6CDD1D) lsr 30
end)

(* What one length has counted: an array for short keys, a table for long ones. *)
type counts = Small of int array | Large of int ref Keys.t

let code = function
  | 'A' | 'a' -> 0
  | 'C' | 'c' -> 1
  | 'G' | 'g' -> 2
  | 'T' | 't' -> 3
  | letter ->
      prerr_endline ("no nucleotide: " ^ Char.escaped letter);
      exit 2

let is_three line = String.length line >= 6 && String.sub line 0 6 = ">THREE"

(* The codes of the sequence THREE. *)
let three file =
  let input = open_in_bin file in
  let sequence = Buffer.create (1 lsl 20) in
  let rec read inside =
    match input_line input with
    | exception End_of_file -> ()
    | "" -> read inside
    | line when line.[0] = '>' -> if not inside then read (is_three line)
    | line ->
        if inside then String.iter (fun letter -> Buffer.add_char sequence (Char.unsafe_chr (code letter))) line;
        read inside
  in
  read false;
  close_in input;
  Buffer.contents sequence

let count sequence length =
  let mask = (1 lsl (2 * length)) - 1 in
  let each add =
    let key = ref 0 in
    String.iteri
      (fun index code ->
        key := ((!key lsl 2) lor Char.code code) land mask;
        if index >= length - 1 then add !key)
      sequence
  in
  if length <= 6 then begin
    let counts = Array.make (mask + 1) 0 in
    each (fun key -> counts.(key) <- counts.(key) + 1);
    Small counts
  end
  else begin
    let counts = Keys.create (1 lsl 16) in
    each (fun key ->
        match Keys.find counts key with
        | count -> incr count
        | exception Not_found -> Keys.add counts key (ref 1));
    Large counts
  end

let occurs counts key =
  match counts with
  | Small counts -> counts.(key)
  | Large counts -> ( match Keys.find counts key with count -> !count | exception Not_found -> 0)

let letters key length = String.init length (fun place -> "ACGT".[(key lsr (2 * (length - 1 - place))) land 3])

let shares sequence length =
  let counts = count sequence length in
  let keys = List.init (1 lsl (2 * length)) (fun key -> (key, occurs counts key)) in
  let found = List.filter (fun (_, count) -> count > 0) keys in
  let sum = List.fold_left (fun sum (_, count) -> sum + count) 0 found in
  List.stable_sort (fun (_, one) (_, other) -> compare other one) found
  |> List.iter (fun (key, count) ->
         Printf.printf "%s %.3f\n" (letters key length) (100. *. float_of_int count /. float_of_int sum));
  print_newline ()

let () =
  let sequence = three Sys.argv.(1) in
  shares sequence 1;
  shares sequence 2;
  List.iter
    (fun text ->
      let key = String.fold_left (fun key letter -> (key lsl 2) lor code letter) 0 text in
      Printf.printf "%d\t%s\n" (occurs (count sequence (String.length text)) key) text)
    [ "GGT"; "GGTA"; "GGTATT"; "GGTATTTTAATT"; "GGTATTTTAATTTATAGT" ];
  let stat = Gc.quick_stat () in
  Printf.eprintf "gc: minor_words=%.0f promoted_words=%.0f major_words=%.0f minor_collections=%d major_collections=%d\n"
    stat.minor_words stat.promoted_words stat.major_words stat.minor_collections stat.major_collections
