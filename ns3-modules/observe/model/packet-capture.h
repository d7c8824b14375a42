// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PACKET_CAPTURE_H
#define FABRIC_PACKET_CAPTURE_H

#include "ns3/observer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

class PcapWriter;

/// A host whose frames go to a file.
struct CaptureOptions
{
    int64_t host;     ///< Node id
    std::string path; ///< Of the pcap file
};

/**
 * @ingroup fabric
 * @brief What chosen hosts send and receive, as Ethernet, IPv4 and UDP in pcap files.
 *
 * Lengths are those of the frame: `bytes` with its frame check sequence, which is not in the file.
 * What follows UDP is said by the transport (Transport::Describe), what a PAUSE holds by the flow
 * control (LinkFlowControl::MacControl). Payload is zeros. Addresses are made of node ids: MAC
 * 02:<port>:<id, 4 bytes> of both ends of the link, as between routers, and IPv4 10.<id, 3 bytes>;
 * bits 8 to 13 of the port are the first six of the MAC address. The entropy is the Identification;
 * the UDP source port is its last 14 bits in the dynamic range, as annex A17 of the InfiniBand
 * Architecture Specification asks for.
 *
 * Source: IEEE 802.3; RFC 791, 768, 2474 (DSCP: class selector of the priority), 3168 (ECN).
 * Not modelled: VLAN tags, UDP checksums (zero, as in RoCEv2).
 */
class PacketCapture final : public Observer
{
  public:
    /**
     * @param run lives longer than this
     * @param hosts each at most once
     * @param snaplenBytes most bytes that are kept of a frame [byte]
     */
    PacketCapture(const ObservedRun& run,
                  const std::vector<CaptureOptions>& hosts,
                  uint32_t snaplenBytes);
    ~PacketCapture() override;

    uint32_t Wishes() const override;
    void OnSent(PortId port, const Frame& frame) override;
    void OnReceived(PortId port, const Frame& frame) override;
    void Complete(); ///< Give the files their names

  private:
    void Record(PcapWriter& file, PortId from, PortId to, const Frame& frame);
    void PutMacAddress(PortId port);
    void PutMacControl(PortId from, const Frame& frame);
    void PutPacket(PortId from, PortId to, const Frame& frame, uint32_t snaplenBytes);
    void PutIpv4(const Frame& frame, size_t totalBytes);
    void FillUpTo(size_t bytes); ///< Append zeros until the frame is this long [byte]
    uint32_t Ipv4Address(uint32_t host) const;

    const ObservedRun& m_run;
    const EngineState& m_state;
    std::vector<std::unique_ptr<PcapWriter>> m_files;
    std::vector<PcapWriter*> m_fileOf; ///< By port; null: not captured
    WireBytes m_bytes;                 ///< The frame at hand
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PACKET_CAPTURE_H
