// SPDX-License-Identifier: GPL-2.0-only

#include "trimming-queue.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("TrimmingQueue");
NS_OBJECT_ENSURE_REGISTERED(TrimmingQueue);

TypeId
TrimmingQueue::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TrimmingQueue")
            .SetParent<RedEcn>()
            .SetGroupName("Queueing")
            .AddConstructor<TrimmingQueue>()
            .AddAttribute("HeaderLimitBytes",
                          "Most bytes waiting per port in the priority of headers [byte], "
                          "0 = twice LimitBytes",
                          UintegerValue(0),
                          MakeUintegerAccessor(&TrimmingQueue::m_headerLimitBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("TrimBytes",
                          "Size of a frame without its payload [byte]",
                          UintegerValue(MIN_FRAME_BYTES),
                          MakeUintegerAccessor(&TrimmingQueue::m_trimBytes),
                          MakeUintegerChecker<uint32_t>(MIN_FRAME_BYTES, 1024))
            .AddAttribute("TrimPriority",
                          "Priority of headers, no transport's data may have it",
                          UintegerValue(NUM_PRIORITIES - 1),
                          MakeUintegerAccessor(&TrimmingQueue::m_trimPriority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("TailShare",
                          "Probability that the last frame of the queue is trimmed in place of "
                          "the one that arrives [1]",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&TrimmingQueue::m_tailShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("ReturnToSender",
                          "A header that has no room goes back to its source, else it is dropped",
                          BooleanValue(true),
                          MakeBooleanAccessor(&TrimmingQueue::m_returnToSender),
                          MakeBooleanChecker());
    return tid;
}

void
TrimmingQueue::Check() const
{
    RedEcn::Check();
    NS_ABORT_MSG_IF(LimitBytes() == 0,
                    Name("LimitBytes")
                        << " is 0, so nothing would ever be trimmed; write the bytes of data that "
                           "may wait at a port, for example 33280 for 8 packets of 4160");
}

void
TrimmingQueue::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    RedEcn::Attach(context);
    m_coins.clear();
    for (PortId port = 0; port < context.NumPorts(); port++)
    {
        m_coins.push_back(context.CursorOfPort(port, RandomUse::TRIM));
    }
}

uint64_t
TrimmingQueue::HeaderLimitBytes() const
{
    return m_headerLimitBytes ? m_headerLimitBytes : 2 * LimitBytes();
}

QueueDiscipline::QuietBytes
TrimmingQueue::Quiet(uint8_t priority) const
{
    if (priority == m_trimPriority)
    {
        return {QuietUpTo(HeaderLimitBytes()), ALWAYS};
    }
    return RedEcn::Quiet(priority);
}

QueueDiscipline::Verdict
TrimmingQueue::Admit(PortId port, Frame& frame, uint64_t queuedBytes)
{
    if (frame.priority == m_trimPriority)
    {
        const bool fits = queuedBytes + frame.bytes <= At(port, HeaderLimitBytes());
        const bool returns = m_returnToSender && MayBounce(frame, m_trimBytes);
        return fits ? Verdict::ADMIT : returns ? Verdict::BOUNCE : Verdict::DROP;
    }
    if (RedEcn::Admit(port, frame, queuedBytes) == Verdict::ADMIT)
    {
        return Verdict::ADMIT;
    }
    const bool isTail = m_coins[port].Real() < m_tailShare;
    return !MayTrim(frame, m_trimBytes) ? Verdict::DROP
           : isTail                     ? Verdict::TRIM_TAIL
                                        : Verdict::TRIM;
}

void
TrimmingQueue::Depart(PortId port, Frame& frame, uint64_t queuedBytes)
{
    if (frame.priority != m_trimPriority)
    {
        RedEcn::Depart(port, frame, queuedBytes);
    }
}

} // namespace ns3
