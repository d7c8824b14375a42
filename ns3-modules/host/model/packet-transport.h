// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_PACKET_TRANSPORT_H
#define HOST_PACKET_TRANSPORT_H

#include "flow-ends.h"
#include "flow-order.h"
#include "segmentation.h"

#include "ns3/nstime.h"
#include "ns3/path-selector.h"
#include "ns3/transport.h"
#include "ns3/type-choice.h"

#include <string>

namespace ns3
{
namespace fabric
{

/**
 * @defgroup host The shared base of transports
 *
 * Everything a transport of messages needs that is not its protocol.
 */

/**
 * @ingroup host
 * @brief What all transports of packets share and what does not depend on their state of a flow.
 *
 * Attributes, sizes, the frames of data and their answers, retransmission timeout, path selector
 * and congestion control. MessageTransport, which derives from it, owns the flows.
 */
class PacketTransport : public Transport
{
  public:
    static constexpr uint8_t ACK = frame_kind::CONTROL;        ///< `aux`: all below have arrived
    static constexpr uint8_t NAK = frame_kind::CONTROL + 1;    ///< The same; `packet` is no gain
    static constexpr uint8_t CNP = frame_kind::CONTROL + 2;    ///< Notification of congestion
    static constexpr uint8_t FAMILY = frame_kind::CONTROL + 3; ///< First kind a family may define

    static TypeId GetTypeId();

    void Check() const override;
    std::optional<uint16_t> SinglePathEntropy(uint32_t message) const override;
    bool MayRepeat(uint32_t message) const override;

    Traits GetTraits() const override;

  protected:
    /// Defaults that differ from family to family.
    struct Defaults
    {
        const char* entropy;         ///< Path selector
        const char* rto;             ///< Retransmission timeout, for example "4ms"
        uint32_t reorderPackets{1};  ///< ReorderPackets, and whether it may be 0
        const char* reorderHelp{""}; ///< More to say about it
        uint8_t controlPriority{6};  ///< ControlPriority
        bool ecnCapable{true};       ///< EcnCapable
        bool trimmable{false};       ///< Trimmable
        /// Each packet is answered: ReorderPackets, Trimmable, EcnCapable, CongestionControl
        bool answered{true};
        bool prioritised{true};                          ///< Priority
        FlowOrder::By order{FlowOrder::By::ROUND_ROBIN}; ///< Order
    };

    /// Add to a family's type the attributes that all of them have.
    static TypeId AddAttributes(TypeId tid, const Defaults& defaults);

    void DoAttach() override;
    void DoDispose() override;

    // ---- what a family may change
    virtual uint32_t Packets(uint64_t bytes) const; ///< Of a message, with what is sent beside it
    /// @return time without progress after which packets are lost, judged when it may be over [ps]
    virtual uint64_t RtoPs(const Outbound& out) const;
    virtual uint64_t LeastRtoPs() const; ///< Not above any RtoPs [ps]
    /// @return since when what is out waits, judged when RtoPs may be over [ps]
    virtual uint64_t WaitsSincePs(const Outbound& out) const;
    /// An answer has come: take in what else it says, and add what is news to its newPackets.
    virtual void LearnMore(Outbound& out, FrameId frame, Answer& answer);
    virtual void OnHostTimer(); ///< The time of SetHostTimer has come

    // ---- for families
    const Segmentation& Cut() const
    {
        return m_cut;
    }

    /// @return unloaded round trip of a full packet and its acknowledgement [ps]
    uint64_t BaseRttPs(const Outbound& out) const;
    uint64_t BaseRttPs(uint32_t message, PortId port) const; ///< From a port, NO_PORT: any
    /// @return time that a full packet takes at the port by which the message leaves [ps]
    uint64_t PacketPs(const Outbound& out) const;
    uint32_t NumPorts(const Outbound& out) const;       ///< By which it may leave
    uint32_t PipePackets(const Outbound& out) const;    ///< Full ones that fill its unloaded path
    uint64_t HostRateBps() const;                       ///< Sum over the links of the host [bit/s]
    uint64_t RemainingBytes(const Outbound& out) const; ///< From the first missing packet on [byte]
    uint64_t WindowPackets(const Outbound& out) const;  ///< Of congestion control, or NO_LIMIT

    bool WindowAllows(const Outbound& out) const ///< Window of congestion control, if there is one
    {
        return !m_control || ControlAllows(out);
    }

    /// The window of congestion control has more room than one full packet.
    bool HasRoomForMore(const Outbound& out) const
    {
        const uint64_t bytes = (out.InFlight() + uint64_t{1}) * m_mtuBytes;
        return !m_control || bytes < m_control->WindowBytes(out.slot);
    }

    bool HasWindow(const Outbound& out) const ///< Congestion control sets a window
    {
        return m_control && m_control->WindowBytes(out.slot) != CongestionControl::NO_LIMIT;
    }

    /// Tell whether there is congestion control, and whether it is at rest.
    void TellRest(const Outbound& out, MessageProgress& progress) const;

    bool HasControl() const ///< There is congestion control
    {
        return m_controlType.IsSet();
    }

    /// @return a control frame of a message to its other end, with nothing in it
    FrameId MakeControl(uint32_t message, uint8_t kind, uint32_t bytes);
    /// Make a frame that has come its own answer, which is yet to be sent.
    void MakeAnswer(FrameId frame, uint8_t kind, uint32_t cumulative);
    /// Keep a message to a rate on the wire, of all that is sent of it; 0: to none [bit/s]
    void Admit(Outbound& out, uint64_t rateBps);
    /// Admit a message under way to another rate, and wait for that from now on.
    void Readmit(Outbound& out, uint64_t rateBps);
    /// A packet is lost, which its Scoreboard knows already: tell who wants to know.
    void TellLost(Outbound& out, uint32_t packet, CongestionControl::Loss how, Answer& answer);
    /// @return whether it is news that a packet has arrived, which was sent
    bool LearnArrival(Outbound& out, uint32_t packet);
    void SetDeadline(Outbound& out, FlowDeadline which, uint64_t atPs);
    /// Set a deadline, unless it is earlier already; not to a time that is past.
    void BringForward(Outbound& out, FlowDeadline which, uint64_t atPs);

    uint32_t MaxBackoff() const ///< Timeouts in a row double the timeout at most this often
    {
        return m_maxBackoff;
    }

    /// Call OnHostTimer at that time, in place of the one of the call before [ps].
    void SetHostTimer(uint64_t atPs);

    // ---- for MessageTransport
    void OpenFlow(Outbound& out, uint32_t message);
    void CloseFlow(const Outbound& out);
    FrameId MakeData(Outbound& out, PortId port, uint8_t priority);
    Answer Learn(Outbound& out, FrameId frame);

    void TellAnswer(Outbound& out, FrameId frame, const Answer& answer)
    {
        if (m_control)
        {
            TellControl(out, frame, answer);
        }
    }

    void TellTimeout(Outbound& out);
    void TellBounced(Outbound& out, FrameId data); ///< A switch has sent a packet back
    void Notified(Outbound& out);                  ///< A CNP has come
    void Updated(Outbound& out);                   ///< UPDATE_DEADLINE is reached
    void StartTimeout(Outbound& out);              ///< Unless it runs, or nothing is out
    void RestartTimeout(Outbound& out);            ///< There was progress
    bool IsTimedOut(Outbound& out);                ///< TIMEOUT_DEADLINE is reached: is it due now?
    void HostTimer();                              ///< A timer of HOST_TIMER has run out
    void Notify(Inbound& in, FrameId data, PortId port); ///< Send a CNP if one is due

    /// Ask for the memory of something that is needed soon.
    static void FetchObject(const void* object, size_t bytes)
    {
        constexpr size_t LINE_BYTES = 64;
        for (size_t at = 0; at < bytes; at += LINE_BYTES)
        {
            __builtin_prefetch(static_cast<const char*>(object) + at, 1);
        }
    }

    /// Ask for the memory of what is asked for each packet, which lies apart from the transport.
    void FetchChoosers() const
    {
        constexpr size_t SELECTOR_BYTES = 384; // with its first flow
        constexpr size_t CONTROL_BYTES = 384;
        FetchObject(PeekPointer(m_entropy), SELECTOR_BYTES);
        if (m_control)
        {
            FetchObject(PeekPointer(m_control), CONTROL_BYTES);
        }
    }

    bool RateAllows(const Outbound& out) const
    {
        return !m_paces || Host().NowPs() >= out.pacer.NextPs();
    }

    /// A data frame is as it leaves: the next one waits for the rate, the timeout begins.
    void Leaves(Outbound& out, FrameId frame)
    {
        if (m_paces)
        {
            Pace(out, frame);
        }
        StartTimeout(out);
    }

    FlowOrder::By Order() const
    {
        return m_order;
    }

    static constexpr uint32_t HOST_TIMER = 1U << 31; ///< Token that is no slot

    // in order of how often they are needed
    uint32_t m_ackBytes{0};
    uint32_t m_ackInterval{1};
    uint32_t m_mtuBytes{0};
    uint32_t m_headerBytes{0};
    uint32_t m_firstHeaderBytes{0};
    uint8_t m_priority{0};
    uint8_t m_controlPriority{0};
    Traits m_traits; ///< Since DoAttach

  private:
    static TypeId AddChoices(TypeId tid, const Defaults& defaults);
    static TypeId AddControl(TypeId tid);
    Ptr<CongestionControl> MakeControl() const;
    PathSelector::Traits PathTraits() const;
    uint32_t TelemetryBytes(const Frame& data) const;
    void SetLineRate(Outbound& out) const;
    uint64_t RateOf(const Outbound& out) const;
    bool ControlAllows(const Outbound& out) const;
    void Pace(Outbound& out, FrameId frame);
    void Sync(Outbound& out); ///< Set UPDATE_DEADLINE to what congestion control wants
    void TellControl(Outbound& out, FrameId frame, const Answer& answer);
    void TellNewLoss(Outbound& out, CongestionControl::Loss how);
    uint64_t InFlightBytes(const Outbound& out) const;
    uint64_t PayloadBytes(const Outbound& out, uint32_t packets, bool withLast) const;
    void ReportArrivals(Outbound& out, const Frame& frame, uint64_t rttPs);
    void ReportOwn(Outbound& out, const Frame& frame, uint64_t rttPs);

    Segmentation m_cut;
    uint16_t m_dataFlags{0}; ///< Of each new data frame
    bool m_stamps{false};    ///< Somebody wants the age of packets
    bool m_reports{false};   ///< The path selector wants reports
    bool m_notifies{false};  ///< Congestion control wants CNPs
    bool m_needsHops{false}; ///< Congestion control wants in-band telemetry
    bool m_paces{false};     ///< Some message may be slower than its line
    Ptr<PathSelector> m_entropy;
    Ptr<CongestionControl> m_control;
    uint64_t m_rtoPs{0};
    uint64_t m_cnpIntervalPs{0};
    uint32_t m_reorderPackets{0};
    uint32_t m_maxBackoff{0};
    uint32_t m_cnpBytes{0};
    FlowOrder::By m_order{FlowOrder::By::ROUND_ROBIN};
    Time m_rto;
    Time m_cnpInterval;
    bool m_ecnCapable{false};
    bool m_trimmable{false};
    TypeChoice m_entropyType;
    TypeChoice m_controlType;
    Deadlines<1> m_hostDeadline; ///< Of SetHostTimer
};

} // namespace fabric
} // namespace ns3

#endif // HOST_PACKET_TRANSPORT_H
