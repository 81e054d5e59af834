// Five programs of the Savina actor benchmarks (Imam, Sarkar 2014) on goroutines and channels; the lab's README says
// what each does. An actor is a goroutine with a channel as its mailbox.
package main

import (
	"math"
	"sync"
)

// congruence is Savina's PseudoRandom: a linear congruence of 16 bits.
type congruence uint64

func (r *congruence) next() uint64 {
	*r = (*r*1309 + 13849) & 65535
	return uint64(*r)
}

func (r *congruence) below(end uint64) uint64 { return r.next() % end }

// forkjoin has one that sends to each of some actors by turns, and each calculates for each message.
func forkjoin(o options) uint64 {
	o.only("--messages", "--actors")
	messages, actors := o.number("--messages", 600000), o.number("--actors", 60)
	links := make([]chan float64, actors)
	counts := make(chan uint64)
	for i := range links {
		links[i] = make(chan float64, 1024)
		go func(angles <-chan float64) {
			calculated := uint64(0)
			for angle := range angles {
				if sine := math.Sin(angle); sine*sine > 0 {
					calculated++
				}
			}
			counts <- calculated
		}(links[i])
	}
	for message := uint64(0); message < messages; message++ {
		links[message%actors] <- 37.2
	}
	for _, link := range links {
		close(link)
	}
	return total(counts, actors)
}

func total(counts <-chan uint64, actors uint64) uint64 {
	sum := uint64(0)
	for ; actors > 0; actors-- {
		sum += <-counts
	}
	return sum
}

// bigMessage is a ping or a pong of the actor with this number; negative: the exit.
type bigMessage struct {
	from int
	pong bool
}

// big has actors that send pings to random ones, one after the other as the pongs come.
func big(o options) uint64 {
	o.only("--pings", "--actors")
	pings, actors := o.number("--pings", 2400000), o.number("--actors", 120)
	inboxes := make([]chan bigMessage, actors)
	for i := range inboxes {
		// Each has one ping on its way, so nobody waits to send.
		inboxes[i] = make(chan bigMessage, actors+2)
	}
	ended, counts := make(chan struct{}, actors), make(chan uint64, actors)
	for i := range inboxes {
		go bigActor(i, part(pings, actors, uint64(i)), inboxes, ended, counts)
	}
	for range inboxes {
		<-ended
	}
	for _, inbox := range inboxes {
		inbox <- bigMessage{from: -1}
	}
	return total(counts, actors)
}

func bigActor(id int, pings uint64, inboxes []chan bigMessage, ended chan<- struct{}, counts chan<- uint64) {
	numbers, asked, answered := congruence(id), id, uint64(0)
	goOn := func() {
		if pings == 0 {
			ended <- struct{}{}
			return
		}
		pings--
		asked = int(numbers.below(uint64(len(inboxes))))
		inboxes[asked] <- bigMessage{from: id}
	}
	goOn()
	for message := range inboxes[id] {
		switch {
		case message.from < 0:
			counts <- answered
			return
		case message.pong:
			if message.from == asked {
				answered++
			}
			goOn()
		default:
			inboxes[message.from] <- bigMessage{id, true}
		}
	}
}

// boundedBuffer has a manager between producers and consumers, as Savina does: a channel of 50 would do it all.
func boundedBuffer(o options) uint64 {
	o.only("--items", "--producers", "--consumers", "--buffer", "--cost")
	items, cost := o.number("--items", 40000), o.number("--cost", 25)
	m := manager{buffer: int(o.number("--buffer", 50))}
	producers, consumers := o.number("--producers", 40), o.number("--consumers", 40)
	m.inbox = make(chan bufferMessage, 2*producers+consumers)
	for i := uint64(0); i < producers; i++ {
		wishes := make(chan struct{}, 1)
		m.producers = append(m.producers, wishes)
		go produce(int(i), part(items, producers, i), cost, wishes, m.inbox)
	}
	counts := make(chan uint64)
	for i := uint64(0); i < consumers; i++ {
		inbox := make(chan float64, 1)
		m.consumers = append(m.consumers, inbox)
		m.available = append(m.available, int(i))
		go consume(int(i), cost, inbox, m.inbox, counts)
	}
	go m.run()
	return total(counts, consumers)
}

// bufferMessage is an item of a producer, or that a consumer wants one, or that a producer has ended.
type bufferMessage struct {
	item float64
	from int
	what int
}

const (
	madeItem = iota
	wantsItem
	madeAll
)

func produce(id int, items, cost uint64, wishes <-chan struct{}, manager chan<- bufferMessage) {
	item := 0.0
	for ; items > 0; items-- {
		<-wishes
		item = process(item, cost)
		manager <- bufferMessage{item, id, madeItem}
	}
	manager <- bufferMessage{what: madeAll}
}

func consume(id int, cost uint64, inbox <-chan float64, manager chan<- bufferMessage, counts chan<- uint64) {
	sum, consumed := 0.0, uint64(0)
	for item := range inbox {
		sum = process(sum+item, cost)
		// Every item, and what is made of it, is a sum of logarithms that is less than 0.
		if item < 0 && sum < 0 {
			consumed++
		}
		manager <- bufferMessage{from: id, what: wantsItem}
	}
	counts <- consumed
}

type manager struct {
	inbox     chan bufferMessage
	producers []chan struct{}
	consumers []chan float64
	available []int
	held      []float64
	waiting   []int
	buffer    int
}

func (m *manager) run() {
	// Each producer may send one more, so that much room is kept for them.
	full := m.buffer - len(m.producers)
	if full < 1 {
		full = 1
	}
	producing := len(m.producers)
	for _, producer := range m.producers {
		producer <- struct{}{}
	}
	for producing > 0 || len(m.available) < len(m.consumers) {
		switch message := <-m.inbox; message.what {
		case madeItem:
			if len(m.available) > 0 {
				m.consumers[m.available[0]] <- message.item
				m.available = m.available[1:]
			} else {
				m.held = append(m.held, message.item)
			}
			if len(m.held) >= full {
				m.waiting = append(m.waiting, message.from)
			} else {
				m.producers[message.from] <- struct{}{}
			}
		case wantsItem:
			if len(m.held) == 0 {
				m.available = append(m.available, message.from)
				break
			}
			m.consumers[message.from] <- m.held[0]
			m.held = m.held[1:]
			if len(m.waiting) > 0 {
				m.producers[m.waiting[0]] <- struct{}{}
				m.waiting = m.waiting[1:]
			}
		case madeAll:
			producing--
		}
	}
	for _, consumer := range m.consumers {
		close(consumer)
	}
}

// process is Savina's calculation: logarithms of the same numbers each time.
func process(item float64, cost uint64) float64 {
	numbers := congruence(cost)
	for i := uint64(0); i < cost*100; i++ {
		item += math.Log(math.Abs(1/float64(numbers.next()+1)) + 0.01)
	}
	return item
}

// payment is to pay so much to the account with this number, or from it.
type payment struct {
	amount uint64
	other  uint64
	debit  bool
}

// balance is what an account has at the beginning.
const balance = 1000000

// bank has accounts that pay each other; one that pays waits until the other one has the money.
func bank(o options) uint64 {
	o.only("--transactions", "--accounts")
	transactions, accounts := o.number("--transactions", 50000), o.number("--accounts", 1000)
	if accounts < 10 {
		fail("expected at least 10 accounts, got", o["--accounts"])
	}
	inboxes, replies := make([]chan payment, accounts), make([]chan struct{}, accounts)
	for i := range inboxes {
		inboxes[i], replies[i] = make(chan payment, 64), make(chan struct{}, 1)
	}
	var done sync.WaitGroup
	done.Add(int(transactions))
	balances := make(chan uint64, accounts)
	account := func(id uint64) {
		own := uint64(balance)
		for message := range inboxes[id] {
			if !message.debit {
				own += message.amount
				replies[message.other] <- struct{}{}
				continue
			}
			own -= message.amount
			inboxes[message.other] <- payment{message.amount, id, false}
			<-replies[id]
			done.Done()
		}
		balances <- own
	}
	for id := range inboxes {
		go account(uint64(id))
	}
	numbers := congruence(123456)
	for ; transactions > 0; transactions-- {
		// The one that pays has the lower number, so no circle of them waits.
		from := numbers.below(accounts / 10 * 8)
		step := numbers.below(accounts - from)
		if step == 0 {
			step = 1
		}
		inboxes[from] <- payment{1000000 / (numbers.next() + 1), from + step, true}
	}
	done.Wait()
	for _, inbox := range inboxes {
		close(inbox)
	}
	return total(balances, accounts) + o.number("--transactions", 50000)
}
