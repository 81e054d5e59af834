(* The thread ring in OCaml: one Lwt thread a member, one synchronised variable a link.

   [ring --kind KIND --heap WORDS ...]: KIND is a form of [Mvar], WORDS the size of the minor heap. *)

open Lwt.Infix

let refuse what given =
  prerr_endline (what ^ ": " ^ given);
  exit 2

let number least text =
  match int_of_string_opt text with
  | Some value when value >= least -> value
  | _ -> refuse (Printf.sprintf "expected a whole number of at least %d, got" least) text

let threads = ref 503
let hops = ref 10_000_000
let order = ref "forward"
let kind = ref "full"
let heap = ref 32_768

let rec parse = function
  | [] -> ()
  | "--threads" :: text :: rest -> threads := number 1 text; parse rest
  | "--hops" :: text :: rest -> hops := number 0 text; parse rest
  | "--heap" :: text :: rest -> heap := number 4096 text; parse rest
  | "--kind" :: text :: rest -> kind := text; parse rest
  | "--order" :: (("forward" | "reverse" | "shuffled") as text) :: rest -> order := text; parse rest
  | "--order" :: text :: _ -> refuse "unknown order (forward, reverse, shuffled)" text
  | word :: _ -> refuse "unknown option, or one without a value" word

(* The order in which members are created, over splitmix64 with the seed that all contenders use. *)
let creation_order n =
  let places = Array.init n (fun k -> if !order = "reverse" then n - 1 - k else k) in
  let state = ref 503L in
  let mixed shift factor z = Int64.(mul (logxor z (shift_right_logical z shift)) factor) in
  if !order = "shuffled" then
    for k = n - 1 downto 1 do
      state := Int64.add !state 0x9e3779b97f4a7c15L;
      let z = mixed 30 0xbf58476d1ce4e5b9L !state |> mixed 27 0x94d049bb133111ebL |> mixed 31 1L in
      let j = Int64.(to_int (unsigned_rem z (of_int (k + 1)))) in
      let here = places.(k) in
      places.(k) <- places.(j);
      places.(j) <- here
    done;
  places

(* Creates the links and the members, puts the token in, and promises who gets the 0. *)
let run create put member () =
  let n = !threads in
  let links = Array.init n (fun _ -> create ()) in
  let finished, answer = Lwt.wait () in
  Array.iter
    (fun i -> Lwt.async (fun () -> member answer (i + 1) links.(i) links.((i + 1) mod n)))
    (creation_order n);
  put links.(0) !hops;
  finished

module Waiting_ring (Mvar : Mvar.Waiting) = struct
  let rec member answer id from into =
    Mvar.take from >>= fun token ->
    if token = 0 then (Lwt.wakeup_later answer id; Lwt.return_unit)
    else Mvar.put into (token - 1) >>= fun () -> member answer id from into

  let run = run Mvar.create (fun link token -> Lwt.async (fun () -> Mvar.put link token)) member
end

module Relaxed_ring (Mvar : Mvar.Relaxed) = struct
  let rec member answer id from into =
    Mvar.take from >>= fun token ->
    if token = 0 then (Lwt.wakeup_later answer id; Lwt.return_unit)
    else (
      Mvar.put into (token - 1);
      member answer id from into)

  let run = run Mvar.create Mvar.put member
end

module Full = Waiting_ring (Mvar.Full)
module Relaxed = Relaxed_ring (Mvar.Relaxed_queue)
module Relaxed_list = Relaxed_ring (Mvar.Relaxed_list)

(* Some of what [Gc.print_stat] would print, under its names. *)
let collections () =
  let s = Gc.quick_stat () in
  Printf.eprintf
    "gc: minor_words=%.0f promoted_words=%.0f major_words=%.0f minor_collections=%d major_collections=%d\n"
    s.minor_words s.promoted_words s.major_words s.minor_collections s.major_collections

let () =
  (match List.tl (Array.to_list Sys.argv) with
  | "ring" :: options -> parse options
  | other -> refuse "unknown workload (this program knows: ring)" (String.concat " " other));
  Gc.set { (Gc.get ()) with minor_heap_size = !heap };
  let run =
    match !kind with
    | "full" -> Full.run
    | "relaxed" -> Relaxed.run
    | "list" -> Relaxed_list.run
    | other -> refuse "unknown kind (full, relaxed, list)" other
  in
  Printf.printf "%d\n%!" (Lwt_main.run (run ()));
  collections ()
