%% The workloads about waiting in Erlang: processes, messages, and the machine's own timers.
%%
%% `WORKLOAD --option value ...`, after erl's -extra.
-module(erlang_waiting).
-export([main/0]).

main() ->
    try
        [Workload | Words] = init:get_plain_arguments(),
        Options = options(Words),
        Answer = case Workload of
            "park" -> park(Options);
            "mutex" -> mutex(Options);
            "timers" -> timers(Options);
            "hostage" -> hostage(Options);
            _ -> refuse("unknown workload", Workload)
        end,
        io:format("~b~n", [Answer]),
        collections(),
        halt(0)
    catch
        throw:{refused, Line} -> stop(2, Line);
        Class:Reason -> stop(1, io_lib:format("~p: ~0p", [Class, Reason]))
    end.

stop(Status, Line) ->
    io:format(standard_error, "~ts~n", [Line]),
    halt(Status).

refuse(What, Given) -> throw({refused, [What, ": ", Given]}).

options([]) -> #{};
options([Name, Value | Rest]) -> (options(Rest))#{Name => Value};
options([Word]) -> refuse("an option without a value", Word).

number(Name, Options, Usual) ->
    case maps:find(Name, Options) of
        error -> Usual;
        {ok, Text} ->
            case string:to_integer(Text) of
                {Value, []} when Value >= 1 -> Value;
                _ -> refuse("expected a whole number of at least 1, got", Text)
            end
    end.

part(Total, Parts, Index) when Index < Total rem Parts -> Total div Parts + 1;
part(Total, Parts, _) -> Total div Parts.

%% A process's mailbox is its one-shot. Who is about to wait says so, and who was sent its number adds it up; both
%% in counters, as messages for it would be a million in one mailbox.
park(Options) ->
    Threads = number("--threads", Options, 1000),
    Counts = counters:new(3, []),
    Main = self(),
    All = [spawn(fun() -> parked(Main, Counts, Threads) end) || _ <- lists:seq(1, Threads)],
    receive all_parked -> ok end,
    lists:foldl(fun(Pid, Number) -> Pid ! Number, Number + 1 end, 0, All),
    await(Counts, Threads),
    counters:get(Counts, 3).

parked(Main, Counts, Threads) ->
    counters:add(Counts, 1, 1),
    case counters:get(Counts, 1) of
        Threads -> Main ! all_parked;
        _ -> ok
    end,
    receive Number -> counters:add(Counts, 3, Number) end,
    counters:add(Counts, 2, 1).

%% Counters have nobody who waits for them.
await(Counts, Threads) ->
    case counters:get(Counts, 2) of
        Threads -> ok;
        _ -> erlang:yield(), await(Counts, Threads)
    end.

%% There is nothing shared to lock: a process keeps what is guarded and hands it to one after the other, which is
%% three messages a section.
mutex(Options) ->
    Sections = number("--sections", Options, 1000),
    Tasks = number("--tasks", Options, 4),
    Section = case maps:get("--section", Options, "short") of
        "short" -> fun(Number) -> Number + 1 end;
        "yield" -> fun(Number) -> erlang:yield(), Number + 1 end;
        Other -> refuse("unknown section (short, yield)", Other)
    end,
    Lock = spawn(fun() -> lock(0) end),
    Main = self(),
    All = [spawn_link(fun() -> sections(Lock, Section, part(Sections, Tasks, Task)), Main ! ended end)
           || Task <- lists:seq(0, Tasks - 1)],
    [receive ended -> ok end || _ <- All],
    Lock ! {take, self()},
    receive {taken, Number} -> Number end.

lock(Number) ->
    receive {take, Who} -> Who ! {taken, Number} end,
    receive {put, New} -> lock(New) end.

sections(_, _, 0) -> ok;
sections(Lock, Section, Times) ->
    Lock ! {take, self()},
    receive {taken, Number} -> Lock ! {put, Section(Number)} end,
    sections(Lock, Section, Times - 1).

step(S0) ->
    S1 = S0 bxor ((S0 bsl 13) band 16#ffffffffffffffff),
    S2 = S1 bxor (S1 bsr 7),
    S2 bxor ((S2 bsl 17) band 16#ffffffffffffffff).

set(Random) -> erlang:start_timer((60 + (Random bsr 32) rem 3600) * 1000, self(), due).

%% The pending timers stand in the process's dictionary, the only table there is that is written in place and knows
%% terms as they are.
timers(Options) ->
    Count = number("--timers", Options, 1000),
    Live = number("--live", Options, 1000),
    Idle = number("--idle-ms", Options, 1),
    State = lists:foldl(fun(Slot, Before) ->
        Random = step(Before),
        put(Slot, set(Random)),
        Random
    end, 1, lists:seq(0, Live - 1)),
    Cancelled = cancel(Count, Live, State, 0),
    timer:sleep(Idle),
    Cancelled.

cancel(0, _, _, Cancelled) -> Cancelled;
cancel(Count, Live, Before, Cancelled) ->
    Random = step(Before),
    Slot = Random rem Live,
    More = case erlang:cancel_timer(get(Slot)) of
        false -> 0;
        _ -> 1
    end,
    put(Slot, set(Random)),
    cancel(Count - 1, Live, Random, Cancelled + More).

%% Nothing in Erlang itself holds a scheduler: files are read by other threads, and a process that has had enough is
%% interrupted. A fault would take C.
hostage(Options) ->
    Count = number("--hostages", Options, 2),
    Stuck = number("--stuck-ms", Options, 1000),
    Times = number("--times", Options, 1),
    Hold = case maps:get("--by", Options, "read") of
        "read" -> fun() -> read(Stuck) end;
        "spin" -> fun() -> spin(now_ns() + Stuck * 1000000) end;
        Other -> refuse("held up by read or spin only: without C no fault can be made to wait", Other)
    end,
    Main = self(),
    spawn_link(fun() -> ticker(Main, Count, Hold, Stuck * Times, Times) end),
    receive {late, Late} -> say(lists:sort(Late)) end,
    Count.

now_ns() -> erlang:monotonic_time(nanosecond).

ticker(Main, Count, Hold, Time, Times) ->
    Before = [tick() || _ <- lists:seq(1, 50)],
    Ticker = self(),
    [spawn_link(fun() -> held(Hold, Times), Ticker ! back end) || _ <- lists:seq(1, Count)],
    Main ! {late, ticks(now_ns() + (Time + 450) * 1000000, Count, Before)}.

held(_, 0) -> ok;
held(Hold, Times) ->
    Hold(),
    erlang:yield(),
    held(Hold, Times - 1).

ticks(Until, Left, Late) ->
    Now = receive back -> Left - 1 after 0 -> Left end,
    case Now =:= 0 andalso now_ns() >= Until of
        true -> Late;
        false -> ticks(Until, Now, [tick() | Late])
    end.

%% Sleeps once; the deadline counts from now on, so that one long hole is one late tick.
tick() ->
    Begun = now_ns(),
    receive never -> ok after 1 -> ok end,
    (now_ns() - Begun) / 1000000 - 1.

say(Late) ->
    Ticks = length(Late),
    At = fun(Share) -> lists:nth(ceil(Share * Ticks), Late) end,
    io:format(standard_error, "figures: ticks=~b late_ms_p50=~.4f late_ms_p99=~.4f late_ms_max=~.4f~n",
              [Ticks, At(0.5), At(0.99), At(1)]).

%% Reads from a named pipe into which a process writes when the time is over.
read(Stuck) ->
    Name = lists:flatten(io_lib:format("/tmp/lab-~s-~b", [os:getpid(), erlang:unique_integer([positive])])),
    [] = os:cmd("mkfifo " ++ Name),
    Seconds = io_lib:format("~.3f", [Stuck / 1000]),
    _ = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", ["exec 3<>", Name, "; sleep ", Seconds, "; echo x >", Name]]}]),
    {ok, File} = file:open(Name, [read, raw, binary]),
    {ok, _} = file:read(File, 1),
    ok = file:close(File),
    ok = file:delete(Name).

spin(Until) ->
    case now_ns() >= Until of
        true -> ok;
        false -> spin(Until)
    end.

collections() ->
    {Collections, Words, _} = erlang:statistics(garbage_collection),
    io:format(standard_error, "gc: Number_of_GCs=~b Words_Reclaimed=~b~n", [Collections, Words]).
