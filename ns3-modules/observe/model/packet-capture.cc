// SPDX-License-Identifier: GPL-2.0-only

#include "packet-capture.h"

#include "pcap-writer.h"

#include "ns3/abort.h"

#include <algorithm>
#include <array>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint32_t ETHERNET_BYTES = 14;
constexpr uint32_t FCS_BYTES = 4;
constexpr uint32_t IPV4_BYTES = 20;
constexpr uint32_t UDP_BYTES = 8;

constexpr uint16_t ETHERTYPE_IPV4 = 0x0800;
constexpr uint16_t ETHERTYPE_MAC_CONTROL = 0x8808;
constexpr uint16_t ETHERTYPE_EXPERIMENT = 0x88b5;        ///< IEEE 802, local experiments
constexpr uint64_t MAC_CONTROL_ADDRESS = 0x0180c2000001; ///< IEEE 802.3 annex 31B
constexpr uint8_t LOCAL_ADDRESS = 0x02; ///< First byte: locally administered, one station
constexpr uint32_t TEN_NETWORK = 10U << 24;
constexpr uint16_t DYNAMIC_PORTS = 0xc000; ///< RFC 6335: 49152 to 65535
constexpr uint16_t DONT_FRAGMENT = 0x4000;
constexpr uint8_t TTL = 64;
constexpr uint8_t PROTOCOL_UDP = 17;

constexpr uint8_t ECT_0 = 2; ///< RFC 3168 section 5
constexpr uint8_t CE = 3;

/// @return what a file can hold of a frame [byte]
size_t
BytesWithoutFcs(const Frame& frame)
{
    return frame.bytes - std::min<uint32_t>(frame.bytes, FCS_BYTES);
}

/// Sum of 16-bit words in ones' complement (RFC 1071).
uint16_t
InternetChecksum(const uint8_t* data, size_t bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes; i += 2)
    {
        sum += (uint32_t{data[i]} << 8) | data[i + 1];
    }
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~(sum + (sum >> 16)));
}

} // namespace

PacketCapture::PacketCapture(const ObservedRun& run,
                             const std::vector<CaptureOptions>& hosts,
                             uint32_t snaplenBytes)
    : m_run(run),
      m_state(run.State()),
      m_fileOf(m_state.network.NumPorts())
{
    for (const auto& capture : hosts)
    {
        uint32_t node = 0;
        const auto& nodes = m_state.network.nodes;
        while (node < nodes.size() && nodes[node].id != capture.host)
        {
            node++;
        }
        NS_ABORT_MSG_IF(node == nodes.size() || nodes[node].isSwitch,
                        "capture: there is no host " << capture.host);
        const PortId first = nodes[node].firstPort;
        NS_ABORT_MSG_IF(m_fileOf[first], "capture: host " << capture.host << " is named twice");
        if (!m_state.IsOwnNode(node))
        {
            continue;
        }
        m_files.push_back(std::make_unique<PcapWriter>(capture.path, snaplenBytes));
        std::fill_n(m_fileOf.begin() + first, nodes[node].ports, m_files.back().get());
    }
}

PacketCapture::~PacketCapture() = default;

void
PacketCapture::Complete()
{
    for (const auto& file : m_files)
    {
        file->Complete();
    }
    std::fill(m_fileOf.begin(), m_fileOf.end(), nullptr); // the engine may be asked what is left
}

uint32_t
PacketCapture::Wishes() const
{
    return FRAMES | ALL;
}

void
PacketCapture::OnSent(PortId port, const Frame& frame)
{
    if (m_fileOf[port])
    {
        Record(*m_fileOf[port], port, m_state.network.ports[port].peer, frame);
    }
}

void
PacketCapture::OnReceived(PortId port, const Frame& frame)
{
    if (m_fileOf[port])
    {
        Record(*m_fileOf[port], m_state.network.ports[port].peer, port, frame);
    }
}

void
PacketCapture::Record(PcapWriter& file, PortId from, PortId to, const Frame& frame)
{
    m_bytes.Clear();
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        PutMacControl(from, frame);
    }
    else
    {
        PutPacket(from, to, frame, file.SnaplenBytes());
    }
    // Headers that the transport's sizes have no room for are cut off, as is the FCS.
    const size_t bytes = std::min<size_t>(m_bytes.Size(), BytesWithoutFcs(frame));
    file.Write(m_state.WorldNowPs().Ps(), m_bytes.Data(), bytes, frame.bytes);
}

void
PacketCapture::PutMacAddress(PortId port)
{
    const NodeState& node = m_state.network.nodes[m_state.network.ports[port].node];
    const uint64_t local = port - node.firstPort;
    m_bytes.Put(LOCAL_ADDRESS | ((local >> 8) << 2), 1); // six of its bits are free
    m_bytes.Put(local, 1);
    m_bytes.Put(static_cast<uint32_t>(node.id), 4);
}

void
PacketCapture::PutMacControl(PortId from, const Frame& frame)
{
    const WireBytes control = m_run.MacControlOf(from, frame);
    m_bytes.Put(MAC_CONTROL_ADDRESS, 6);
    PutMacAddress(from);
    m_bytes.Put(control.Size() ? ETHERTYPE_MAC_CONTROL : ETHERTYPE_EXPERIMENT, 2);
    m_bytes.Put(control);
    FillUpTo(BytesWithoutFcs(frame));
}

void
PacketCapture::FillUpTo(size_t bytes)
{
    m_bytes.PutZeros(bytes - std::min(m_bytes.Size(), bytes));
}

void
PacketCapture::PutPacket(PortId from, PortId to, const Frame& frame, uint32_t snaplenBytes)
{
    const Datagram datagram = m_run.DescribeFrame(frame);
    const size_t before = ETHERNET_BYTES + datagram.paddingBytes;
    PutMacAddress(to);
    PutMacAddress(from);
    m_bytes.Put(ETHERTYPE_IPV4, 2);
    const size_t packetBytes =
        std::max<size_t>(BytesWithoutFcs(frame) - std::min<size_t>(BytesWithoutFcs(frame), before),
                         IPV4_BYTES + UDP_BYTES);
    PutIpv4(frame, packetBytes);
    m_bytes.Put(DYNAMIC_PORTS | frame.entropy, 2);
    m_bytes.Put(datagram.destinationPort, 2);
    m_bytes.Put(packetBytes - IPV4_BYTES, 2);
    m_bytes.Put(0, 2); // no checksum
    m_bytes.Put(datagram.headers);
    const size_t end = ETHERNET_BYTES + packetBytes;
    if (datagram.seal && end < snaplenBytes + datagram.sealBytes) // or nobody sees it
    {
        FillUpTo(end - datagram.sealBytes); // payload
        const uint8_t* packet = m_bytes.Data() + ETHERNET_BYTES;
        m_bytes.Put(datagram.seal(packet, m_bytes.Size() - ETHERNET_BYTES));
    }
    FillUpTo(BytesWithoutFcs(frame)); // payload, padding
}

void
PacketCapture::PutIpv4(const Frame& frame, size_t totalBytes)
{
    const Message& message = m_state.messages[frame.message];
    const bool reverse = frame.flags & frame_flag::REVERSE;
    const bool capable = frame.flags & frame_flag::ECN_CAPABLE;
    const bool marked = frame.flags & frame_flag::ECN_MARKED;
    const uint8_t ecn = marked ? CE : (capable ? ECT_0 : 0);
    m_bytes.Put(0x45, 1); // version 4, five words
    m_bytes.Put((frame.priority << 5) | ecn, 1);
    m_bytes.Put(totalBytes, 2);
    m_bytes.Put(frame.entropy, 2);
    m_bytes.Put(DONT_FRAGMENT, 2);
    m_bytes.Put(TTL - frame.hops, 1);
    m_bytes.Put(PROTOCOL_UDP, 1);
    m_bytes.Put(0, 2);
    m_bytes.Put(Ipv4Address(reverse ? message.dst : message.src), 4);
    m_bytes.Put(Ipv4Address(frame.dst), 4);
    const uint16_t sum = InternetChecksum(m_bytes.Data() + ETHERNET_BYTES, IPV4_BYTES);
    m_bytes[ETHERNET_BYTES + 10] = static_cast<uint8_t>(sum >> 8);
    m_bytes[ETHERNET_BYTES + 11] = static_cast<uint8_t>(sum);
}

uint32_t
PacketCapture::Ipv4Address(uint32_t host) const
{
    const int64_t id = m_state.network.nodes[m_state.network.hosts[host].node].id;
    return TEN_NETWORK | (static_cast<uint32_t>(id) & 0xffffff);
}

} // namespace fabric
} // namespace ns3
