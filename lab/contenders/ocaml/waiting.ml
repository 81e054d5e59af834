(* The workloads about waiting in OCaml: Lwt promises, [Lwt_mutex], [Lwt_unix.sleep].

   Lwt has one thread; its threads are promises, and nothing runs while one of them is held up. *)

open Lwt.Infix

let refuse what given =
  prerr_endline (what ^ ": " ^ given);
  exit 2

let options : (string, string) Hashtbl.t = Hashtbl.create 8

let rec parse = function
  | [] -> ()
  | name :: value :: rest -> Hashtbl.replace options name value; parse rest
  | [ word ] -> refuse "an option without a value" word

let only known =
  Hashtbl.iter (fun name _ -> if not (List.mem name known) then refuse "unknown option" name) options

let number name usual =
  match Hashtbl.find_opt options name with
  | None -> usual
  | Some text -> (
      match int_of_string_opt text with
      | Some value when value >= 1 -> value
      | _ -> refuse "expected a whole number of at least 1, got" text)

let text name usual = Option.value (Hashtbl.find_opt options name) ~default:usual
let part total parts index = (total / parts) + if index < total mod parts then 1 else 0

(* Each thread waits for a promise of its own. *)
let park () =
  only [ "--threads" ];
  let threads = number "--threads" 1000 in
  let sum = ref 0 and woken = ref 0 in
  let all, finished = Lwt.wait () in
  let shots =
    Array.init threads (fun _ ->
        let promise, shot = Lwt.wait () in
        Lwt.async (fun () ->
            promise >>= fun value ->
            sum := !sum + value;
            incr woken;
            if !woken = threads then Lwt.wakeup_later finished ();
            Lwt.return_unit);
        shot)
  in
  (* All of them wait: what is started runs up to where it waits. *)
  Array.iteri (fun index shot -> Lwt.wakeup_later shot index) shots;
  all >|= fun () -> !sum

let mutex () =
  only [ "--section"; "--sections"; "--tasks" ];
  let sections = number "--sections" 1000 and tasks = number "--tasks" 4 in
  let lock = Lwt_mutex.create () and guarded = ref 0 in
  let section =
    match text "--section" "short" with
    | "short" -> fun () -> incr guarded; Lwt.return_unit
    | "yield" ->
        fun () ->
          let read = !guarded in
          Lwt.pause () >|= fun () -> guarded := read + 1
    | other -> refuse "unknown section (short, yield)" other
  in
  let rec turn = function
    | 0 -> Lwt.return_unit
    | left -> Lwt_mutex.with_lock lock section >>= fun () -> turn (left - 1)
  in
  List.init tasks (fun task -> turn (part sections tasks task)) |> Lwt.join >|= fun () -> !guarded

let step state =
  let open Int64 in
  let state = logxor state (shift_left state 13) in
  let state = logxor state (shift_right_logical state 7) in
  logxor state (shift_left state 17)

(* A sleep that is cancelled, which is what [Lwt_unix.timeout] and [with_timeout] do. *)
let timers () =
  only [ "--timers"; "--live"; "--idle-ms" ];
  let count = number "--timers" 1000 and live = number "--live" 1000 in
  let idle = number "--idle-ms" 1 in
  let state = ref 1L in
  let set () =
    Lwt_unix.sleep (float_of_int (60 + Int64.(to_int (unsigned_rem (shift_right_logical !state 32) 3600L))))
  in
  let pending = Array.init live (fun _ -> state := step !state; set ()) in
  let cancelled = ref 0 in
  for _ = 1 to count do
    state := step !state;
    let slot = Int64.(to_int (unsigned_rem !state (of_int live))) in
    Lwt.cancel pending.(slot);
    (match Lwt.state pending.(slot) with Lwt.Fail Lwt.Canceled -> incr cancelled | _ -> ());
    pending.(slot) <- set ()
  done;
  Lwt_unix.sleep (float_of_int idle /. 1e3) >|= fun () -> !cancelled

let now_ms () = Unix.gettimeofday () *. 1e3

(* A read of a pipe to which a thread of the system writes when the time is over; not through Lwt, which would wait
   for it. *)
let read stuck =
  let reader, writer = Unix.pipe () in
  let writing () =
    Thread.delay (float_of_int stuck /. 1e3);
    ignore (Unix.write_substring writer "x" 0 1)
  in
  let thread = Thread.create writing () in
  ignore (Unix.read reader (Bytes.create 1) 0 1);
  Thread.join thread;
  Unix.close reader;
  Unix.close writer

let spin stuck =
  let until = now_ms () +. float_of_int stuck in
  while now_ms () < until do
    ()
  done

let hostage () =
  only [ "--by"; "--hostages"; "--stuck-ms"; "--times" ];
  let count = number "--hostages" 2 and stuck = number "--stuck-ms" 1000 and times = number "--times" 1 in
  let hold =
    match text "--by" "read" with
    | "read" -> read
    | "spin" -> spin
    | other -> refuse "held up by read or spin only: without C no fault can be made to wait" other
  in
  let late = ref [] and ticks = ref 0 and back = ref 0 in
  (* The deadline counts from now on, so that one long hole is one late tick. *)
  let tick () =
    let deadline = now_ms () +. 1. in
    Lwt_unix.sleep 0.001 >|= fun () ->
    late := (now_ms () -. deadline) :: !late;
    incr ticks
  in
  let rec held = function
    | 0 -> incr back; Lwt.return_unit
    | left -> hold stuck; Lwt.pause () >>= fun () -> held (left - 1)
  in
  let rec before () = if !ticks < 50 then tick () >>= before else Lwt.return_unit in
  let rec until finish =
    if now_ms () < finish || !back < count then tick () >>= fun () -> until finish else Lwt.return_unit
  in
  before () >>= fun () ->
  for _ = 1 to count do
    Lwt.async (fun () -> Lwt.pause () >>= fun () -> held times)
  done;
  until (now_ms () +. float_of_int ((stuck * times) + 450)) >|= fun () ->
  let sorted = Array.of_list (List.sort compare !late) in
  let at share = sorted.(int_of_float (ceil (share *. float_of_int !ticks)) - 1) in
  Printf.eprintf "figures: ticks=%d late_ms_p50=%.4f late_ms_p99=%.4f late_ms_max=%.4f\n" !ticks (at 0.5)
    (at 0.99) (at 1.);
  !back

(* Some of what [Gc.print_stat] would print, under its names. *)
let collections () =
  let s = Gc.quick_stat () in
  Printf.eprintf
    "gc: minor_words=%.0f promoted_words=%.0f major_words=%.0f minor_collections=%d major_collections=%d\n"
    s.minor_words s.promoted_words s.major_words s.minor_collections s.major_collections

let () =
  let run =
    match List.tl (Array.to_list Sys.argv) with
    | workload :: words -> (
        parse words;
        match workload with
        | "park" -> park
        | "mutex" -> mutex
        | "timers" -> timers
        | "hostage" -> hostage
        | other -> refuse "unknown workload" other)
    | [] -> refuse "unknown workload" "none"
  in
  Printf.printf "%d\n%!" (Lwt_main.run (run ()));
  collections ()
