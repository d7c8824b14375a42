// SPDX-License-Identifier: GPL-2.0-only

// TcpTransport: its attributes, which take the place of defaults of ns-3.

#include "tcp-transport.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

namespace ns3
{

using S = TcpSettings;

TypeId
TcpTransport::GetTypeId()
{
    static TypeId tid = [] {
        TypeId made("ns3::TcpTransport");
        made.SetParent<fabric::Transport>().SetGroupName("NetDevice");
        made.AddConstructor<TcpTransport>();
        AddVariant(made);
        AddSizes(made);
        AddTimes(made);
        AddSwitches(made);
        return AddAttributes(made);
    }();
    return tid;
}

void
TcpTransport::AddVariant(TypeId& tid)
{
    tid.AddAttribute("Variant",
                     "Congestion control of ns-3",
                     EnumValue(S::CUBIC),
                     MakeEnumAccessor<S::Variant>(&S::variant),
                     MakeEnumChecker(S::CUBIC,
                                     "Cubic",
                                     S::BBR,
                                     "Bbr",
                                     S::LINUX_RENO,
                                     "LinuxReno",
                                     S::DCTCP,
                                     "Dctcp",
                                     S::NEW_RENO,
                                     "NewReno",
                                     S::HIGH_SPEED,
                                     "HighSpeed",
                                     S::HTCP,
                                     "Htcp",
                                     S::SCALABLE,
                                     "Scalable",
                                     S::BIC,
                                     "Bic",
                                     S::ILLINOIS,
                                     "Illinois"));
}

void
TcpTransport::AddSizes(TypeId& tid)
{
    const auto add =
        [&tid](const char* name, const char* help, uint64_t value, auto member, uint64_t most) {
            tid.AddAttribute(name,
                             help,
                             UintegerValue(value),
                             MakeUintegerAccessor(member),
                             MakeUintegerChecker<uint64_t>(1, most));
        };
    constexpr uint64_t MOST_BYTES = 1'000'000'000; // what a scaled window can say (RFC 7323)
    add("Connections",
        "Connections over which a message is spread",
        1,
        &TcpTransport::m_connections,
        1024);
    add("SegmentBytes", "Payload of a full segment [byte]", 8948, &S::segmentBytes, 32768);
    add("SendBufferBytes",
        "What a connection's sender holds until it is acknowledged [byte]",
        150'000'000,
        &S::sendBufferBytes,
        MOST_BYTES);
    add("ReceiveBufferBytes",
        "What a connection's receiver holds, and the window it offers [byte]",
        150'000'000,
        &S::receiveBufferBytes,
        MOST_BYTES);
    add("InitialWindowSegments", "Window of a new connection", 10, &S::initialWindowSegments, 1000);
    add("DelayedAckSegments", "Segments per acknowledgement", 2, &S::delayedAckSegments, 64);
    add("Retries",
        "Timeouts in a row, of data or of a new connection, before it is given up",
        15,
        &S::retries,
        1000);
    tid.AddAttribute("MaxPacingBps",
                     "Most that is paced out [bit/s], 0 = rate of the port",
                     UintegerValue(0),
                     MakeUintegerAccessor(&S::maxPacingBps),
                     MakeUintegerChecker<uint64_t>());
}

void
TcpTransport::AddTimes(TypeId& tid)
{
    const auto add = [&tid](const char* name, const char* help, const Time& value, auto member) {
        tid.AddAttribute(name,
                         help,
                         TimeValue(value),
                         MakeTimeAccessor(member),
                         MakeTimeChecker(NanoSeconds(1)));
    };
    add("MinRto", "Least retransmission timeout", MilliSeconds(200), &S::minRto);
    add("ClockGranularity",
        "Least part of the timeout that is for variation (RFC 6298, G)",
        MilliSeconds(1),
        &S::clockGranularity);
    add("DelayedAckTimeout",
        "Most that an acknowledgement waits for the next segment",
        MilliSeconds(40),
        &S::delayedAckTimeout);
    add("ConnectTimeout",
        "Until the first segment of a new connection is sent again",
        Seconds(1),
        &S::connectTimeout);
}

void
TcpTransport::AddSwitches(TypeId& tid)
{
    const auto add = [&tid](const char* name, const char* help, bool value, auto member) {
        tid.AddAttribute(name,
                         help,
                         BooleanValue(value),
                         MakeBooleanAccessor(member),
                         MakeBooleanChecker());
    };
    add("Pacing", "Spread a window over its round trip; Bbr always does", false, &S::pacing);
    add("WindowScaling", "Windows beyond 64 KiB (RFC 7323)", true, &S::windowScaling);
    add("Timestamps", "Round trips measured by option (RFC 7323)", true, &S::timestamps);
    add("Sack", "Selective acknowledgements (RFC 2018)", true, &S::sack);
    add("Ecn", "Switches may mark (RFC 3168); Dctcp always lets them", false, &S::ecn);
}

} // namespace ns3
