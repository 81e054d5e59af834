%% Five programs of the Savina actor benchmarks (Imam, Sarkar 2014) in Erlang: an actor is a process. The lab's README
%% says what each does.
%%
%% `WORKLOAD --option value ...`, after erl's -extra.
-module(erlang_savina).
-export([main/0]).

main() ->
    try
        [Workload | Words] = init:get_plain_arguments(),
        Options = options(Words),
        Answer = case Workload of
            "forkjoin" -> forkjoin(Options);
            "big" -> big(Options);
            "bounded-buffer" -> bounded_buffer(Options);
            "uts" -> uts(Options);
            "bank" -> bank(Options);
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

%% The sum of what so many processes say in the end.
total(0, Sum) -> Sum;
total(Left, Sum) -> receive {total, Count} -> total(Left - 1, Sum + Count) end.

%% Savina's PseudoRandom: a linear congruence of 16 bits, whose state is the number.
next(Random) -> (Random * 1309 + 13849) band 65535.

%% One sends to each of some actors by turns, and each calculates for each message.
forkjoin(Options) ->
    Messages = number("--messages", Options, 600000),
    Actors = number("--actors", Options, 60),
    Main = self(),
    All = [spawn_link(fun() -> Main ! {total, calculates(part(Messages, Actors, Actor), 0)} end)
           || Actor <- lists:seq(0, Actors - 1)],
    sends(Messages, All, All),
    total(Actors, 0).

sends(0, _, _) -> ok;
sends(Left, [], All) -> sends(Left, All, All);
sends(Left, [Actor | Others], All) ->
    Actor ! 37.2,
    sends(Left - 1, Others, All).

calculates(0, Count) -> Count;
calculates(Left, Count) ->
    receive
        Angle ->
            Sine = math:sin(Angle),
            case Sine * Sine > 0.0 of
                true -> calculates(Left - 1, Count + 1);
                false -> calculates(Left - 1, Count)
            end
    end.

%% Actors send pings to random ones, one after the other as the pongs come; a process cannot know the others when it is
%% started, so each is told.
big(Options) ->
    Pings = number("--pings", Options, 2400000),
    Actors = number("--actors", Options, 120),
    Main = self(),
    Start = fun(Id) ->
        Left = part(Pings, Actors, Id),
        spawn_link(fun() -> receive {all, All} -> Main ! {total, pings(Id, Left, All, Main)} end end)
    end,
    All = [Start(Id) || Id <- lists:seq(0, Actors - 1)],
    Table = list_to_tuple(All),
    [Pid ! {all, Table} || Pid <- All],
    [receive ended -> ok end || _ <- All],
    [Pid ! exit || Pid <- All],
    total(Actors, 0).

pings(Id, Left, All, Main) -> ping(Id, Left, All, Main, Id, 0).

ping(_, 0, All, Main, Random, Answered) ->
    Main ! ended,
    pinged(0, 0, All, Main, Random, none, Answered);
ping(Id, Left, All, Main, Before, Answered) ->
    Random = next(Before),
    Asked = element(Random rem tuple_size(All) + 1, All),
    Asked ! {ping, self()},
    pinged(Id, Left - 1, All, Main, Random, Asked, Answered).

pinged(Id, Left, All, Main, Random, Asked, Answered) ->
    receive
        {ping, From} ->
            From ! {pong, self()},
            pinged(Id, Left, All, Main, Random, Asked, Answered);
        {pong, Asked} -> ping(Id, Left, All, Main, Random, Answered + 1);
        exit -> Answered
    end.

%% A manager takes items from producers and hands them to consumers, and keeps only so many.
bounded_buffer(Options) ->
    Items = number("--items", Options, 40000),
    Producers = number("--producers", Options, 40),
    Consumers = number("--consumers", Options, 40),
    Buffer = number("--buffer", Options, 50),
    Cost = number("--cost", Options, 25),
    Main = self(),
    Makers = [spawn_link(fun() -> makes(part(Items, Producers, Id), 0.0, Cost, Main) end)
              || Id <- lists:seq(0, Producers - 1)],
    Eaters = [spawn_link(fun() -> Main ! {total, consumes(0.0, 0, Cost, Main)} end)
              || _ <- lists:seq(1, Consumers)],
    [Maker ! go_on || Maker <- Makers],
    %% Each producer may send one more, so that much room is kept for them.
    manage(Producers, Consumers, max(1, Buffer - Producers), queue:from_list(Eaters), queue:new(), queue:new()),
    [Eater ! ended || Eater <- Eaters],
    total(Consumers, 0).

makes(0, _, _, Manager) -> Manager ! made_all;
makes(Left, Before, Cost, Manager) ->
    receive go_on -> ok end,
    Item = process(Before, Cost),
    Manager ! {item, Item, self()},
    makes(Left - 1, Item, Cost, Manager).

%% Every item, and what is made of it, is a sum of logarithms that is less than 0.
consumes(Before, Count, Cost, Manager) ->
    receive
        {item, Item} ->
            Sum = process(Before + Item, Cost),
            Manager ! {available, self()},
            case Item < 0 andalso Sum < 0 of
                true -> consumes(Sum, Count + 1, Cost, Manager);
                false -> consumes(Sum, Count, Cost, Manager)
            end;
        ended -> Count
    end.

manage(Producing, Consumers, Full, Available, Held, Waiting) ->
    case Producing =:= 0 andalso queue:len(Available) =:= Consumers of
        true -> ok;
        false -> managed(Producing, Consumers, Full, Available, Held, Waiting)
    end.

managed(Producing, Consumers, Full, Available, Held, Waiting) ->
    receive
        {item, Item, Maker} ->
            {Now, Kept} = case queue:out(Available) of
                {{value, Eater}, Others} -> Eater ! {item, Item}, {Others, Held};
                {empty, _} -> {Available, queue:in(Item, Held)}
            end,
            case queue:len(Kept) >= Full of
                true -> manage(Producing, Consumers, Full, Now, Kept, queue:in(Maker, Waiting));
                false -> Maker ! go_on, manage(Producing, Consumers, Full, Now, Kept, Waiting)
            end;
        {available, Eater} ->
            case queue:out(Held) of
                {empty, _} ->
                    manage(Producing, Consumers, Full, queue:in(Eater, Available), Held, Waiting);
                {{value, Item}, Kept} ->
                    Eater ! {item, Item},
                    manage(Producing, Consumers, Full, Available, Kept, release(queue:out(Waiting)))
            end;
        made_all -> manage(Producing - 1, Consumers, Full, Available, Held, Waiting)
    end.

release({empty, Waiting}) -> Waiting;
release({{value, Maker}, Waiting}) -> Maker ! go_on, Waiting.

%% Savina's calculation: logarithms of the same numbers each time.
process(Item, Cost) -> logarithms(Cost * 100, Cost, Item).

logarithms(0, _, Item) -> Item;
logarithms(Left, Before, Item) ->
    Random = next(Before),
    logarithms(Left - 1, Random, Item + math:log(abs(1.0 / (Random + 1)) + 0.01)).

%% A tree that grows as its nodes ask the root for children, and is walked through then.
uts(Options) ->
    Nodes = number("--nodes", Options, 200000),
    Children = number("--children", Options, 10),
    Mean = number("--work", Options, 500),
    {State, Work} = draw_work(step(2), Mean),
    Root = self(),
    First = births(Children, 1, Work, {Root, Children}, none),
    root(State, 1 + Children, Children, First, {Nodes, Children, Mean}).

root(_, Size, 0, First, _) -> walk(Size, First);
root(Before, Size, Open, First, {Nodes, Children, Mean} = Tree) ->
    receive
        {children, _} when Size + Children > Nodes -> walk(Size, First);
        {children, Node} ->
            case step(Before) of
                State when State band 1 =:= 1 ->
                    {Next, Work} = draw_work(State, Mean),
                    Node ! {grow, Size, Work},
                    root(Next, Size + Children, Open - 1 + Children, First, Tree);
                State -> root(State, Size, Open - 1, First, Tree)
            end
    end.

walk(Size, First) ->
    [Node ! visit || Node <- First],
    [Node ! finish || Node <- First],
    ended(Size, 1).

ended(Size, Size) -> Size;
ended(Size, Ended) ->
    receive
        ended -> ended(Size, Ended + 1);
        {children, _} -> ended(Size, Ended)
    end.

births(Count, Number, Work, Tree, Parent) ->
    [spawn_link(fun() -> born(Child, Work, Tree, Parent) end) || Child <- lists:seq(Number, Number + Count - 1)].

born(Number, Work, {Root, _} = Tree, Parent) ->
    _ = steps(Number, 100),
    Root ! {children, self()},
    node(Number, Work, Tree, Parent, [], 0).

node(Number, Work, {Root, Count} = Tree, Parent, Children, Grants) ->
    receive
        {grow, First, TheirWork} ->
            is_pid(Parent) andalso (Parent ! granted),
            node(Number, Work, Tree, Parent, births(Count, First, TheirWork, Tree, self()), Grants);
        granted -> node(Number, Work, Tree, Parent, Children, Grants + 1);
        visit ->
            _ = steps(Number, Work),
            [Child ! visit || Child <- Children],
            node(Number, Work, Tree, Parent, Children, Grants);
        finish ->
            [Child ! finish || Child <- Children],
            Root ! ended
    end.

%% One step of xorshift with 32 bits (Marsaglia 2003), which are small numbers here.
step(S0) ->
    S1 = S0 bxor ((S0 bsl 13) band 16#ffffffff),
    S2 = S1 bxor (S1 bsr 17),
    S2 bxor ((S2 bsl 5) band 16#ffffffff).

steps(State, 0) -> State;
steps(State, Left) -> steps(step(State), Left - 1).

%% About the mean, as a normal distribution with a deviation of 100 has it.
draw_work(State, Mean) -> draws(12, State, Mean - 594).

draws(0, State, Sum) -> {State, max(1, Sum)};
draws(Left, Before, Sum) ->
    State = step(Before),
    draws(Left - 1, State, Sum + State rem 100).

%% Accounts pay each other; one that pays waits until the other one has the money. What else comes meanwhile stays in the
%% mailbox, which is not searched: a reply is known by a reference made after that.
bank(Options) ->
    Transactions = number("--transactions", Options, 50000),
    Accounts = number("--accounts", Options, 1000),
    Accounts >= 10 orelse refuse("expected at least 10 accounts, got", integer_to_list(Accounts)),
    Main = self(),
    All = [spawn_link(fun() -> Main ! {total, account(1000000, Main)} end) || _ <- lists:seq(1, Accounts)],
    pays(Transactions, list_to_tuple(All), 123456),
    done(Transactions),
    [Account ! stop || Account <- All],
    total(Accounts, Transactions).

done(0) -> ok;
done(Left) -> receive done -> done(Left - 1) end.

%% The one that pays has the lower number, so no circle of them waits.
pays(0, _, _) -> ok;
pays(Left, Accounts, Before) ->
    Count = tuple_size(Accounts),
    First = next(Before),
    Second = next(First),
    Third = next(Second),
    From = First rem (Count div 10 * 8),
    To = From + max(1, Second rem (Count - From)),
    element(From + 1, Accounts) ! {pay, 1000000 div (Third + 1), element(To + 1, Accounts)},
    pays(Left - 1, Accounts, Third).

account(Balance, Teller) ->
    receive
        {pay, Amount, To} ->
            Ref = make_ref(),
            To ! {from, self(), Ref, Amount},
            receive {got, Ref} -> ok end,
            Teller ! done,
            account(Balance - Amount, Teller);
        {from, From, Ref, Amount} ->
            From ! {got, Ref},
            account(Balance + Amount, Teller);
        stop -> Balance
    end.

collections() ->
    {Collections, Words, _} = erlang:statistics(garbage_collection),
    io:format(standard_error, "gc: Number_of_GCs=~b Words_Reclaimed=~b~n", [Collections, Words]).
