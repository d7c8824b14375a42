// SPDX-License-Identifier: GPL-2.0-only

#ifndef COUNTING_FAKES_H
#define COUNTING_FAKES_H

#include "ns3/congestion-control.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/path-selector.h"
#include "ns3/queue-discipline.h"
#include "ns3/uinteger.h"

#include <map>
#include <vector>

namespace ns3
{
namespace tests
{

/// A congestion control that counts its calls and keeps to fixed limits.
class CountingControl final : public fabric::CongestionControl
{
  public:
    /// Calls of all its objects since Clear.
    struct Calls
    {
        uint64_t attach, open, close, sent, ack, notification, update;
        uint64_t sentBytes, arrivedBytes, markedBytes, lostBytes, mostInFlightBytes;
        std::map<Loss, uint64_t> losses;
        std::vector<uint64_t> sentPs;   ///< When each packet left [ps]
        std::vector<uint64_t> updatePs; ///< When each update was [ps]
        std::vector<uint64_t> rttPs;    ///< Of each answer [ps]
        Path path;
        Ack lastAck;
    };

    static inline Calls calls{};

    static TypeId GetTypeId()
    {
        using T = CountingControl;
        static TypeId tid = TypeId("ns3::tests::CountingControl")
                                .SetParent<CongestionControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<T>()
                                .AddAttribute("Window",
                                              "0 = no limit [byte]",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&T::m_windowBytes),
                                              MakeUintegerChecker<uint64_t>())
                                .AddAttribute("RateShare",
                                              "Of the line rate; above 1 = no limit [1]",
                                              DoubleValue(2),
                                              MakeDoubleAccessor(&T::m_rateShare),
                                              MakeDoubleChecker<double>(0))
                                .AddAttribute("UpdatePs",
                                              "Time between updates, 0 = none [ps]",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&T::m_updatePs),
                                              MakeUintegerChecker<uint64_t>())
                                .AddAttribute("Needs",
                                              "1 = notifications, 2 = hops",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&T::m_needs),
                                              MakeUintegerChecker<uint32_t>(0, 3));
        return tid;
    }

    void Attach(fabric::HostContext& host) override
    {
        CongestionControl::Attach(host);
        calls.attach++;
    }

    void Open(uint32_t, const Path& path) override
    {
        calls.open++;
        calls.path = path;
        m_nextPs = m_updatePs ? Host().NowPs() + m_updatePs : fabric::NEVER_PS;
    }

    void Close(uint32_t) override
    {
        calls.close++;
    }

    void OnSent(uint32_t, uint32_t, uint32_t bytes) override
    {
        calls.sent++;
        calls.sentBytes += bytes;
        calls.sentPs.push_back(Host().NowPs());
    }

    void OnAck(uint32_t, const Ack& ack) override
    {
        calls.ack++;
        calls.arrivedBytes += ack.arrivedBytes;
        calls.markedBytes += ack.markedBytes;
        calls.lostBytes += ack.lostBytes;
        calls.mostInFlightBytes = std::max(calls.mostInFlightBytes, ack.inFlightBytes);
        calls.rttPs.push_back(ack.rttPs);
        calls.lastAck = ack;
    }

    void OnNotification(uint32_t) override
    {
        calls.notification++;
    }

    void OnLoss(uint32_t, Loss how) override
    {
        calls.losses[how]++;
    }

    uint64_t NextUpdatePs(uint32_t) const override
    {
        return m_nextPs;
    }

    void OnUpdate(uint32_t) override
    {
        calls.update++;
        calls.updatePs.push_back(Host().NowPs());
        m_nextPs += m_updatePs;
    }

    uint64_t WindowBytes(uint32_t) const override
    {
        return m_windowBytes ? m_windowBytes : NO_LIMIT;
    }

    uint64_t RateBps(uint32_t) const override
    {
        return m_rateShare > 1 ? NO_LIMIT
                               : static_cast<uint64_t>(m_rateShare *
                                                       static_cast<double>(calls.path.lineRateBps));
    }

    Traits GetTraits() const override
    {
        return {.needsIntHops = (m_needs & 2) != 0, .needsNotifications = (m_needs & 1) != 0};
    }

  private:
    uint64_t m_windowBytes{0};
    double m_rateShare{0};
    uint64_t m_updatePs{0};
    uint32_t m_needs{0};
    uint64_t m_nextPs{fabric::NEVER_PS};
};

NS_OBJECT_ENSURE_REGISTERED(CountingControl);

/// A path selector that numbers its packets and counts what it is told of them.
class CountingSelector final : public fabric::PathSelector
{
  public:
    /// Calls of all its objects since Clear.
    struct Calls
    {
        uint64_t attach, open, close, next, withPort, withRtt;
        std::map<fabric::PathReport::Fate, uint64_t> fates;
        std::map<uint16_t, uint64_t> ofEntropy; ///< Reports
    };

    static inline Calls calls{};

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::CountingSelector")
                                .SetParent<PathSelector>()
                                .SetGroupName("Tests")
                                .AddConstructor<CountingSelector>();
        return tid;
    }

    void Attach(fabric::HostContext& host) override
    {
        PathSelector::Attach(host);
        calls.attach++;
    }

    void Open(uint32_t, uint32_t) override
    {
        calls.open++;
    }

    void Close(uint32_t) override
    {
        calls.close++;
    }

    uint16_t Next(uint32_t, fabric::PortId) override
    {
        return static_cast<uint16_t>(calls.next++);
    }

    void Report(uint32_t, const fabric::PathReport& report) override
    {
        calls.fates[report.fate]++;
        calls.ofEntropy[report.entropy]++;
        calls.withPort += report.port != fabric::NO_PORT;
        calls.withRtt += report.rttPs > 0;
    }

    Traits GetTraits() const override
    {
        return {.needsReports = true};
    }
};

NS_OBJECT_ENSURE_REGISTERED(CountingSelector);

/// A queue that marks or trims what comes while more than a limit waits.
class MarkOrTrim final : public fabric::QueueDiscipline
{
  public:
    static TypeId GetTypeId()
    {
        using T = MarkOrTrim;
        static TypeId tid = TypeId("ns3::tests::MarkOrTrim")
                                .SetParent<QueueDiscipline>()
                                .SetGroupName("Tests")
                                .AddConstructor<T>()
                                .AddAttribute("MarkBytes",
                                              "Mark behind that much; 0 = all [byte]",
                                              UintegerValue(1'000'000'000),
                                              MakeUintegerAccessor(&T::m_markBytes),
                                              MakeUintegerChecker<uint64_t>())
                                .AddAttribute("TrimBytes",
                                              "Trim what does not fit into that much [byte]",
                                              UintegerValue(ALWAYS),
                                              MakeUintegerAccessor(&T::m_trimBytes),
                                              MakeUintegerChecker<uint64_t>());
        return tid;
    }

    void Attach(fabric::SwitchContext&) override
    {
    }

    Verdict Admit(fabric::PortId, fabric::Frame& frame, uint64_t queuedBytes) override
    {
        const bool data =
            frame.kind == fabric::frame_kind::DATA && !(frame.flags & fabric::frame_flag::TRIMMED);
        if (data && queuedBytes >= m_markBytes && (frame.flags & fabric::frame_flag::ECN_CAPABLE))
        {
            frame.flags |= fabric::frame_flag::ECN_MARKED;
        }
        return data && queuedBytes + frame.bytes > m_trimBytes ? Verdict::TRIM : Verdict::ADMIT;
    }

    Traits GetTraits(uint8_t) const override
    {
        return {.marks = true, .trims = m_trimBytes != ALWAYS};
    }

  private:
    uint64_t m_markBytes{0};
    uint64_t m_trimBytes{0};
};

NS_OBJECT_ENSURE_REGISTERED(MarkOrTrim);

} // namespace tests
} // namespace ns3

#endif // COUNTING_FAKES_H
