// The thread ring on Mono's continuations: microthreads that copy their piece of stack out when they wait and in
// when they go on, and a scheduler with a queue of those that can run.
using System;
using System.Collections.Generic;
using Mono.Tasklets;

static class Ring
{
    sealed class Refused : Exception
    {
        public Refused(string what, string given) : base(what + ": " + given) { }
    }

    sealed class Microthread
    {
        public readonly Continuation Rest = new Continuation();
        public Action Body; // null once it has begun
    }

    // One reader, one value: there is only one token.
    sealed class Link
    {
        public long Token = -1;
        public Microthread Reader;
    }

    const int Next = 1, Finished = 2;

    static readonly Queue<Microthread> ready = new Queue<Microthread>();
    static readonly Continuation scheduler = new Continuation();
    static Microthread current;
    static int answer;

    // What lies between a mark and a store is what a continuation holds. All marks are of this frame, so that a
    // microthread's stack begins where the scheduler's ends, and only one of them is there at a time.
    static void Schedule()
    {
        scheduler.Mark();
        if (scheduler.Store(0) == Finished)
            return;
        current = ready.Dequeue();
        if (current.Body == null)
            current.Rest.Restore(1);
        Action body = current.Body;
        current.Body = null;
        current.Rest.Mark();
        body();
    }

    static long Take(Link link)
    {
        while (link.Token < 0)
        {
            link.Reader = current;
            if (current.Rest.Store(0) == 0)
                scheduler.Restore(Next);
        }
        long token = link.Token;
        link.Token = -1;
        return token;
    }

    static void Put(Link link, long token)
    {
        link.Token = token;
        if (link.Reader != null)
            ready.Enqueue(link.Reader);
        link.Reader = null;
    }

    static void Member(int number, Link from, Link to)
    {
        while (true)
        {
            long token = Take(from);
            if (token == 0)
            {
                answer = number;
                scheduler.Restore(Finished);
            }
            Put(to, token - 1);
        }
    }

    // The order in which members are created, over splitmix64 with the seed that all contenders use.
    static int[] CreationOrder(int n, string name)
    {
        var order = new int[n];
        for (int k = 0; k < n; k++)
            order[k] = name == "reverse" ? n - 1 - k : k;
        if (name != "shuffled")
            return order;
        ulong state = 503;
        for (int k = n - 1; k > 0; k--)
        {
            state += 0x9e3779b97f4a7c15;
            ulong z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
            z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
            int j = (int)((z ^ (z >> 31)) % (ulong)(k + 1));
            int here = order[k];
            order[k] = order[j];
            order[j] = here;
        }
        return order;
    }

    static long Number(long least, long most, string text)
    {
        long value;
        if (!long.TryParse(text, out value) || value < least || value > most)
            throw new Refused("expected a whole number of at least " + least + ", got", text);
        return value;
    }

    static void Run(string[] words)
    {
        int threads = 503;
        long hops = 10000000;
        string order = "forward";
        if (words.Length % 2 == 0 || words[0] != "ring")
            throw new Refused("expected ring [--option value]..., got", string.Join(" ", words));
        for (int i = 1; i < words.Length; i += 2)
            switch (words[i])
            {
                case "--threads": threads = (int)Number(1, int.MaxValue, words[i + 1]); break;
                case "--hops": hops = Number(0, long.MaxValue, words[i + 1]); break;
                case "--order": order = words[i + 1]; break;
                default: throw new Refused("unknown option", words[i]);
            }
        if (order != "forward" && order != "reverse" && order != "shuffled")
            throw new Refused("unknown order (forward, reverse, shuffled)", order);

        var links = new Link[threads];
        for (int i = 0; i < threads; i++)
            links[i] = new Link();
        foreach (int i in CreationOrder(threads, order))
        {
            Link from = links[i], to = links[(i + 1) % threads];
            int number = i + 1;
            ready.Enqueue(new Microthread { Body = () => Member(number, from, to) });
        }
        // All of them wait for their first token before there is one.
        ready.Enqueue(new Microthread { Body = () => { Put(links[0], hops); scheduler.Restore(Next); } });
        Schedule();
    }

    static int Main(string[] words)
    {
        try
        {
            Run(words);
            Console.WriteLine(answer);
            Console.Error.WriteLine("gc: CollectionCount_0={0} CollectionCount_1={1} TotalMemory={2}",
                GC.CollectionCount(0), GC.CollectionCount(1), GC.GetTotalMemory(false));
            return 0;
        }
        catch (Exception problem)
        {
            Console.Error.WriteLine(problem.Message);
            return problem is Refused ? 2 : 1;
        }
    }
}
