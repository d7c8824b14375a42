// SPDX-License-Identifier: GPL-2.0-only

#ifndef PACED_DATAGRAMS_H
#define PACED_DATAGRAMS_H

#include "ns3/boolean.h"
#include "ns3/transport.h"
#include "ns3/uinteger.h"

#include <deque>
#include <map>
#include <vector>

namespace ns3
{
namespace tests
{

/// A frame as its receiving transport saw it.
struct SeenFrame
{
    uint64_t timePs;
    int64_t host; ///< Node id
    fabric::Frame frame;
    std::vector<fabric::IntHop> hops;
};

/**
 * @brief Transport of the tests: packets of one size, one per gap, without recovery.
 *
 * The message is delivered when as many packets with payload have come as it has, and then its
 * destination answers once. Everything that comes is written down.
 */
class PacedDatagrams : public fabric::Transport
{
  public:
    static inline std::vector<SeenFrame> seen; ///< By all hosts, in order; TestNetwork clears it

    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::tests::PacedDatagrams")
                .SetParent<Transport>()
                .SetGroupName("Tests")
                .AddConstructor<PacedDatagrams>()
                .AddAttribute("GapPs",
                              "Least time from one packet of a message to the next [ps]",
                              UintegerValue(1),
                              MakeUintegerAccessor(&PacedDatagrams::m_gapPs),
                              MakeUintegerChecker<uint64_t>())
                .AddAttribute("PacketBytes",
                              "Size of each frame, all of it counted as payload [byte]",
                              UintegerValue(1000),
                              MakeUintegerAccessor(&PacedDatagrams::m_packetBytes),
                              MakeUintegerChecker<uint16_t>(64))
                .AddAttribute("Priority",
                              "Priority of data",
                              UintegerValue(3),
                              MakeUintegerAccessor(&PacedDatagrams::m_priority),
                              MakeUintegerChecker<uint8_t>(0, 15))
                .AddAttribute("Flags",
                              "Of data, see frame_flag",
                              UintegerValue(0),
                              MakeUintegerAccessor(&PacedDatagrams::m_flags),
                              MakeUintegerChecker<uint16_t>())
                .AddAttribute("Spreads",
                              "Whether each packet has an entropy of its own",
                              BooleanValue(true),
                              MakeBooleanAccessor(&PacedDatagrams::m_spreads),
                              MakeBooleanChecker())
                .AddAttribute("Answers",
                              "Whether the destination acknowledges a message",
                              BooleanValue(true),
                              MakeBooleanAccessor(&PacedDatagrams::m_answers),
                              MakeBooleanChecker());
        return tid;
    }

    void StartMessage(uint32_t message) override
    {
        OnTimer(message);
    }

    void OnTimer(uint32_t message) override
    {
        m_due.push_back(message);
        Host().Kick();
    }

    fabric::FrameId NextFrame(fabric::PortId port, const fabric::NicState& nic) override
    {
        if (m_due.empty() || !nic.Takes(m_priority))
        {
            return fabric::NO_FRAME;
        }
        const uint32_t message = m_due.front();
        if (!Host().Serves(port, Host().GetMessage(message).dst))
        {
            return fabric::NO_FRAME;
        }
        m_due.pop_front();
        const fabric::FrameId id = Host().AllocateFrame();
        fabric::Frame& frame = Host().GetFrame(id);
        frame.message = message;
        frame.dst = Host().GetMessage(message).dst;
        frame.packet = m_sent[message]++;
        frame.entropy = static_cast<uint16_t>(m_spreads ? frame.packet : 0);
        frame.bytes = m_packetBytes;
        frame.kind = fabric::frame_kind::DATA;
        frame.flags = m_flags;
        frame.priority = m_priority;
        if (m_sent[message] < Packets(message))
        {
            Host().SetTimer(Host().NowPs() + m_gapPs, message);
        }
        return id;
    }

    void Receive(fabric::FrameId id, fabric::PortId port) override
    {
        fabric::Frame& frame = Host().GetFrame(id);
        const auto hops = Host().Hops(id);
        seen.push_back({Host().NowPs(), Host().HostId(), frame, {hops.begin(), hops.end()}});
        const uint16_t noPayload = fabric::frame_flag::TRIMMED | fabric::frame_flag::BOUNCED;
        if (frame.kind != fabric::frame_kind::DATA)
        {
            Host().Acknowledged(frame.message);
        }
        else if (!(frame.flags & noPayload) &&
                 ++m_received[frame.message] == Packets(frame.message))
        {
            Host().Delivered(frame.message);
            if (m_answers)
            {
                Answer(id, port);
                return;
            }
        }
        Host().FreeFrame(id);
    }

    Traits GetTraits() const override
    {
        return {.wire = {m_packetBytes, 0, 0, fabric::MIN_FRAME_BYTES, 1},
                .dataPriority = m_priority,
                .isTrimmable = true, // Flags say of which frames
                .isAcknowledged = m_answers};
    }

    std::optional<uint16_t> SinglePathEntropy(uint32_t) const override
    {
        return std::nullopt;
    }

  protected:
    bool HasDue() const
    {
        return !m_due.empty();
    }

    uint32_t Packets(uint32_t message) const
    {
        return static_cast<uint32_t>(Host().GetMessage(message).bytes / m_packetBytes);
    }

  private:
    void Answer(fabric::FrameId id, fabric::PortId port)
    {
        fabric::Frame& frame = Host().GetFrame(id);
        frame.kind = fabric::frame_kind::CONTROL;
        frame.dst = Host().GetMessage(frame.message).src;
        frame.bytes = fabric::MIN_FRAME_BYTES;
        frame.priority = 6;
        frame.flags = fabric::frame_flag::REVERSE;
        Host().SendControl(id, port);
    }

    uint64_t m_gapPs{0};
    uint16_t m_packetBytes{0};
    uint8_t m_priority{0};
    uint16_t m_flags{0};
    bool m_spreads{true};
    bool m_answers{true};
    std::deque<uint32_t> m_due;              ///< Messages whose gap is over
    std::map<uint32_t, uint32_t> m_sent;     ///< Packets, by message
    std::map<uint32_t, uint32_t> m_received; ///< Packets with payload, by message
};

NS_OBJECT_ENSURE_REGISTERED(PacedDatagrams);

} // namespace tests
} // namespace ns3

#endif // PACED_DATAGRAMS_H
