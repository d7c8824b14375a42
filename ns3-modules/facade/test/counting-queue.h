// SPDX-License-Identifier: GPL-2.0-only

#ifndef COUNTING_QUEUE_H
#define COUNTING_QUEUE_H

// The fakes of the battery of QueueDiscipline.

#include "idle-flow-control.h"
#include "test-network.h"

#include "ns3/queue-discipline.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

/// Says one verdict of data beyond a limit, and writes down what it was asked.
class CountingQueue final : public QueueDiscipline
{
  public:
    /// One call.
    struct Call
    {
        uint8_t kind;
        uint8_t priority;
        uint64_t bytes;
        uint64_t queuedBytes;
    };

    static inline uint32_t attached = 0;
    static inline std::vector<Call> admits;
    static inline std::vector<Call> departs;

    static void Clear()
    {
        attached = 0;
        admits.clear();
        departs.clear();
    }

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::CountingQueue")
                                .SetParent<QueueDiscipline>()
                                .SetGroupName("Tests")
                                .AddConstructor<CountingQueue>()
                                .AddAttribute("Says",
                                              "Verdict, as a number",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&CountingQueue::m_says),
                                              MakeUintegerChecker<uint32_t>(0, 4))
                                .AddAttribute("LimitBytes",
                                              "Says it of what would make a queue longer [byte]",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&CountingQueue::m_limitBytes),
                                              MakeUintegerChecker<uint64_t>())
                                .AddAttribute("Headers",
                                              "Says it of what was trimmed, too",
                                              BooleanValue(false),
                                              MakeBooleanAccessor(&CountingQueue::m_headers),
                                              MakeBooleanChecker())
                                .AddAttribute("TrimBytes",
                                              "Size of what is left [byte]",
                                              UintegerValue(100),
                                              MakeUintegerAccessor(&CountingQueue::m_trimBytes),
                                              MakeUintegerChecker<uint32_t>())
                                .AddAttribute("QuietAdmit",
                                              "See QuietBytes [byte]",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&CountingQueue::m_quietAdmit),
                                              MakeUintegerChecker<uint64_t>())
                                .AddAttribute("QuietDepart",
                                              "See QuietBytes [byte]",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&CountingQueue::m_quietDepart),
                                              MakeUintegerChecker<uint64_t>());
        return tid;
    }

    void Attach(SwitchContext&) override
    {
        attached++;
    }

    QuietBytes Quiet(uint8_t) const override
    {
        return {m_quietAdmit, m_quietDepart};
    }

    Verdict Admit(PortId, Frame& frame, uint64_t queuedBytes) override
    {
        admits.push_back({frame.kind, frame.priority, frame.bytes, queuedBytes});
        const bool asked = m_headers || !(frame.flags & frame_flag::TRIMMED);
        return asked && queuedBytes + frame.bytes > m_limitBytes ? static_cast<Verdict>(m_says)
                                                                 : Verdict::ADMIT;
    }

    void Depart(PortId, Frame& frame, uint64_t queuedBytes) override
    {
        departs.push_back({frame.kind, frame.priority, frame.bytes, queuedBytes});
    }

    Traits GetTraits(uint8_t) const override
    {
        return {.trims = true, .trimBytes = m_trimBytes};
    }

  private:
    uint32_t m_says{0};
    uint64_t m_limitBytes{0};
    bool m_headers{false};
    uint32_t m_trimBytes{0};
    uint64_t m_quietAdmit{0};
    uint64_t m_quietDepart{0};
};

NS_OBJECT_ENSURE_REGISTERED(CountingQueue);

/// Flow control that does nothing but promise that priority 3 loses nothing.
class LosslessThree final : public IdleFlowControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::LosslessThree")
                                .SetParent<LinkFlowControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<LosslessThree>();
        return tid;
    }

    Traits GetTraits() const override
    {
        return {.losslessClasses = 1U << 3, .countedClasses = 0};
    }
};

NS_OBJECT_ENSURE_REGISTERED(LosslessThree);

} // namespace tests
} // namespace ns3

#endif // COUNTING_QUEUE_H
