import java.lang.management.ManagementFactory

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, Promise}
import scala.jdk.CollectionConverters._

import org.apache.pekko.actor.{Actor, ActorRef, ActorSystem, Props}

/** The workloads about channels on actors: a mailbox is the channel. It has no bound and one receiver, and is never
  * closed, so that the receiver counts.
  */
object Channels {
  private final class Refused(what: String, word: String) extends Exception(s"$what: $word")

  private final case class Number(value: Long)
  private final case class To(other: ActorRef)
  private final case class Sum(value: Long)

  /** Adds up so many numbers, and tells its parent. */
  private final class Receiver(messages: Long) extends Actor {
    private var left = messages
    private var sum = 0L

    def receive: Receive = { case Number(value) =>
      sum += value
      left -= 1
      if (left == 0) context.parent ! Sum(sum)
    }
  }

  /** Sends all it has to send at once, as nobody makes it wait: `count` numbers, from `first` on, `step` apart, and
    * calculates so many steps of the generator before each.
    */
  private final class Sender(count: Long, first: Long, step: Long, pause: Long, seed: Long) extends Actor {
    private var state = seed

    def receive: Receive = { case To(receiver) =>
      var sent = 0L
      while (sent < count) {
        calculate()
        receiver ! Number(first + sent * step)
        sent += 1
      }
    }

    /** Xorshift (Marsaglia 2003), as all contenders have it. */
    private def calculate(): Unit = {
      var left = pause
      while (left > 0) {
        state ^= state << 13
        state ^= state >>> 7
        state ^= state << 17
        left -= 1
      }
    }
  }

  /** Gives back one more. */
  private final class Answers extends Actor {
    def receive: Receive = { case Number(value) => sender() ! Number(value + 1) }
  }

  /** Asks again with one more, so many times. */
  private final class Asks(trips: Long) extends Actor {
    private var left = trips

    def receive: Receive = {
      case To(other) => other ! Number(0)
      case Number(value) =>
        left -= 1
        if (left == 0) context.parent ! Sum(value + 1) else sender() ! Number(value + 1)
    }
  }

  /** Sends, receives, and so on; what comes before it has been told its neighbour is received first. */
  private final class Member(sends: Long, receives: Long) extends Actor {
    private var next: ActorRef = null
    private var sent, received, sum = 0L

    def receive: Receive = {
      case To(member) => next = member; go()
      case Number(value) => sum += value; received += 1; go()
    }

    private def go(): Unit = if (next != null) {
      while (sent < sends && sent <= received) {
        next ! Number(sent)
        sent += 1
      }
      if (sent == sends && received == receives) context.parent ! Sum(sum)
    }
  }

  /** Has all of them as its children, and adds up what they tell it. */
  private final class Parent(workload: String, options: Map[String, Long], answer: Promise[Long]) extends Actor {
    private var left = 1L
    private var total = 0L

    override def preStart(): Unit = try begin() catch { case problem: Throwable => answer.tryFailure(problem) }

    private def begin(): Unit = {
      val messages = options.getOrElse("--messages", options.getOrElse("--requests", 1000L))
      val senders = options.getOrElse("--senders", if (workload == "msgsend") 4L else 1L)
      workload match {
        case "pipe" =>
          val answers = context.actorOf(Props(new Answers))
          context.actorOf(Props(new Asks(options.getOrElse("--trips", 1000L)))) ! To(answers)
        case "message-ring" =>
          left = options.getOrElse("--tasks", 100L)
          val counts = Array.tabulate(left.toInt)(part(messages, left, _))
          val members = counts.indices.map { i =>
            val before = counts((i + counts.length - 1) % counts.length)
            context.actorOf(Props(new Member(counts(i), before)))
          }
          for (i <- members.indices) members(i) ! To(members((i + 1) % members.length))
        case _ =>
          val receiver = context.actorOf(Props(new Receiver(messages)))
          for (k <- 0L until senders) {
            val count = part(messages, senders, k)
            val sender =
              if (workload == "msgsend") Props(new Sender(count, 100, 0, options.getOrElse("--interval", 1L) - 1, k + 1))
              else Props(new Sender(count, k, senders, 0, 0))
            context.actorOf(sender) ! To(receiver)
          }
      }
    }

    def receive: Receive = { case Sum(value) =>
      total += value
      left -= 1
      if (left == 0) answer.success(total)
    }
  }

  private def part(total: Long, parts: Long, index: Long): Long =
    total / parts + (if (index < total % parts) 1 else 0)

  private val known = Map(
    "spsc" -> Set("--messages", "--capacity"),
    "mpsc" -> Set("--messages", "--senders", "--capacity", "--receive"),
    "pipe" -> Set("--trips"),
    "message-ring" -> Set("--messages", "--tasks"),
    "msgsend" -> Set("--requests", "--senders", "--interval")
  )

  private def parse(known: Set[String], words: List[String]): Map[String, Long] = words match {
    case Nil => Map.empty
    case "--receive" :: "one" :: rest if known("--receive") => parse(known, rest)
    case option :: text :: rest if known(option) =>
      val value = text.toLongOption.filter(_ >= 1).getOrElse {
        throw new Refused("expected a whole number of at least 1, got", text)
      }
      parse(known, rest) + (option -> value)
    case word :: _ => throw new Refused("unknown option, or one without a value", word)
  }

  /** The sums over all collectors, under the names of their bean. */
  private def collections(): Unit = {
    val collectors = ManagementFactory.getGarbageCollectorMXBeans.asScala
    val count = collectors.map(_.getCollectionCount.max(0)).sum
    val time = collectors.map(_.getCollectionTime.max(0)).sum
    System.err.println(s"gc: CollectionCount=$count CollectionTime=$time")
  }

  def main(words: Array[String]): Unit = {
    val status =
      try {
        val workload = words.headOption.getOrElse("none")
        val options = known.getOrElse(workload, throw new Refused("unknown workload", workload))
        val asked = parse(options, words.toList.tail)
        val answer = Promise[Long]()
        ActorSystem("channels").actorOf(Props(new Parent(workload, asked, answer)))
        println(Await.result(answer.future, Duration.Inf))
        System.out.flush()
        collections()
        0
      } catch {
        case refused: Refused => System.err.println(refused.getMessage); 2
        case problem: Throwable => System.err.println(problem); 1
      }
    Runtime.getRuntime.halt(status) // an actor system ends slowly, and its members wait for ever
  }
}
