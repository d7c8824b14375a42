// SPDX-License-Identifier: GPL-2.0-only

#ifndef TCP_TRANSPORT_H
#define TCP_TRANSPORT_H

#include "node-transport.h"
#include "tcp-settings.h"

#include "ns3/ipv4-address.h"

#include <map>
#include <tuple>
#include <vector>

namespace ns3
{

/**
 * @ingroup netdevice
 * @brief Messages over ns-3's own TCP: each host is a node with an Internet stack.
 *
 * A message opens its connections when it starts, shares its bytes among them, is at its receiver
 * when the last byte has been read there, and is known at its sender when all are acknowledged.
 *
 * **Source** TCP as in ns-3.44; what its attributes decide is stated here and not left to defaults.
 * **Not modelled** Connections that stay open for the next message; the time of host and NIC;
 * segmentation offload; a limit on what waits in the host (its queue has none).
 */
class TcpTransport final : public NodeTransport, public TcpSettings
{
  public:
    static TypeId GetTypeId();

    Ptr<Node> GetNode() const; ///< Of this host

    void StartMessage(uint32_t message) override;
    void Receive(fabric::FrameId frame, fabric::PortId port) override;
    Traits GetTraits() const override;
    std::optional<uint16_t> SinglePathEntropy(uint32_t message) const override;

  private:
    enum class Opener
    {
        HERE,
        THERE,
    };

    /// Of a connection: the other host, who has opened it, and that one's port.
    using Ends = std::tuple<uint32_t, Opener, uint16_t>;

    /// A connection as its frames are told apart.
    struct Known
    {
        uint32_t message;
        uint32_t nextSequence{0}; ///< Beyond what was sent
        bool hasSent{false};
    };

    /// A connection of a message at its source.
    struct Connection
    {
        Ptr<TcpSocketBase> socket;
        uint64_t leftBytes; ///< Not yet given to the socket
        bool isDone{false}; ///< All is acknowledged
    };

    void DoAttach() override;
    void DoDispose() override;
    uint32_t PacketBytes() const override;
    std::optional<Ride> RideOf(const PacketFields& fields, const Mac48Address& to) override;
    static void AddVariant(TypeId& tid);
    static void AddSizes(TypeId& tid);
    static void AddTimes(TypeId& tid);
    static void AddSwitches(TypeId& tid);

    static Ipv4Address AddressOf(uint32_t host);
    static uint32_t HostOf(uint64_t address);
    Ptr<TcpSocketBase> SocketOf(uint64_t key, uint64_t wireBps) const;
    void Open(uint32_t message);
    void Send(uint32_t message, uint32_t connection);
    void Accept(Ptr<Socket> socket, const Address& from);
    void Read(uint32_t message, Ptr<Socket> socket);
    void Close(Ptr<Socket> socket);
    void CountTimeout(uint32_t message,
                      TcpSocketState::TcpCongState_t before,
                      TcpSocketState::TcpCongState_t after);

    uint32_t m_connections{0};
    Ptr<Node> m_node;
    Ptr<TcpSocketBase> m_listener;
    std::map<Ends, Known> m_known;
    std::map<uint32_t, std::vector<Connection>> m_sending; ///< By message
    std::map<uint32_t, uint32_t> m_accepted;               ///< Connections of a message that comes
    std::map<uint32_t, uint64_t> m_missingBytes;           ///< Of a message that comes [byte]
    std::map<uint32_t, uint16_t> m_entropies;              ///< Of messages with one connection
};

} // namespace ns3

#endif // TCP_TRANSPORT_H
