import java.lang.management.ManagementFactory

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, Promise}
import scala.jdk.CollectionConverters._

import org.apache.pekko.actor.{Actor, ActorRef, ActorSystem, Props}

/** The thread ring on actors: one a member, its mailbox is the link.
  *
  * An actor cannot be told its neighbour when it is created, in whatever order: it does not exist yet, or has its
  * number only then. So each is told afterwards, which is a message more a member.
  */
object Ring {
  private final class Refused(what: String, word: String) extends Exception(s"$what: $word")

  private final case class Next(member: ActorRef)
  private final case class Token(value: Long)

  private final class Member(number: Int, answer: Promise[Int]) extends Actor {
    private var next = self

    def receive: Receive = {
      case Token(0) => answer.success(number)
      case Token(value) => next ! Token(value - 1)
      case Next(member) => next = member
    }
  }

  /** Creates the members as its children: a reference to an actor of the top level takes a detour. */
  private final class Parent(order: Array[Int], hops: Long, answer: Promise[Int]) extends Actor {
    override def preStart(): Unit = try create() catch { case problem: Throwable => answer.tryFailure(problem) }

    private def create(): Unit = {
      val members = new Array[ActorRef](order.length)
      for (i <- order) members(i) = context.actorOf(Props(new Member(i + 1, answer)))
      for (i <- members.indices) members(i) ! Next(members((i + 1) % members.length))
      members(0) ! Token(hops)
    }

    def receive: Receive = Actor.emptyBehavior
  }

  private case class Options(threads: Int = 503, hops: Long = 10000000, order: String = "forward")

  private def parse(words: List[String], options: Options = Options()): Options = words match {
    case Nil => options
    case "--threads" :: text :: rest => parse(rest, options.copy(threads = number(1, Int.MaxValue, text).toInt))
    case "--hops" :: text :: rest => parse(rest, options.copy(hops = number(0, Long.MaxValue, text)))
    case "--order" :: text :: rest => parse(rest, options.copy(order = text))
    case word :: _ => throw new Refused("unknown option, or one without a value", word)
  }

  private def number(least: Long, most: Long, text: String): Long =
    text.toLongOption.filter(value => value >= least && value <= most).getOrElse {
      throw new Refused(s"expected a whole number of at least $least, got", text)
    }

  /** The order in which members are created, over splitmix64 with the seed that all contenders use. */
  private def creationOrder(n: Int, name: String): Array[Int] = name match {
    case "forward" => Array.range(0, n)
    case "reverse" => Array.range(n - 1, -1, -1)
    case "shuffled" =>
      val places = Array.range(0, n)
      var state = 503L
      for (k <- n - 1 to 1 by -1) {
        state += 0x9e3779b97f4a7c15L
        val y = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L
        val z = (y ^ (y >>> 27)) * 0x94d049bb133111ebL
        val j = java.lang.Long.remainderUnsigned(z ^ (z >>> 31), k + 1).toInt
        val here = places(k)
        places(k) = places(j)
        places(j) = here
      }
      places
    case _ => throw new Refused("unknown order (forward, reverse, shuffled)", name)
  }

  private def ring(options: Options): Int = {
    val order = creationOrder(options.threads, options.order)
    val answer = Promise[Int]()
    ActorSystem("ring").actorOf(Props(new Parent(order, options.hops, answer)))
    Await.result(answer.future, Duration.Inf)
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
        if (words.headOption != Some("ring"))
          throw new Refused("unknown workload (this program knows: ring)", words.headOption.getOrElse("none"))
        println(ring(parse(words.toList.tail)))
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
