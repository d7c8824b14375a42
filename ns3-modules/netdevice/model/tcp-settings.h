// SPDX-License-Identifier: GPL-2.0-only

#ifndef TCP_SETTINGS_H
#define TCP_SETTINGS_H

#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/tcp-socket-base.h"

#include <string>

namespace ns3
{

/**
 * @ingroup netdevice
 * @brief How the TCP sockets of a transport are made: whatever ns-3 decides by a default.
 */
struct TcpSettings
{
    /// Congestion controls of ns-3, by the names of their types without "Tcp".
    enum Variant
    {
        CUBIC,
        BBR,
        LINUX_RENO,
        DCTCP,
        NEW_RENO,
        HIGH_SPEED,
        HTCP,
        SCALABLE,
        BIC,
        ILLINOIS,
    };

    Variant variant{CUBIC};
    uint32_t segmentBytes{0};
    uint32_t sendBufferBytes{0};
    uint32_t receiveBufferBytes{0};
    uint32_t initialWindowSegments{0};
    uint32_t delayedAckSegments{0};
    Time delayedAckTimeout;
    Time minRto;
    Time clockGranularity;
    Time connectTimeout;
    uint32_t retries{0};
    bool pacing{false};
    uint64_t maxPacingBps{0};
    bool windowScaling{false};
    bool timestamps{false};
    bool sack{false};
    bool ecn{false};

    /**
     * @param node with an Internet stack
     * @param portBps cap of the pacing rate where MaxPacingBps names none [bit/s]
     * @param stream of random numbers, for BBR
     * @return a socket of this node
     */
    Ptr<TcpSocketBase> MakeSocket(Ptr<Node> node, uint64_t portBps, uint32_t stream) const;
};

} // namespace ns3

#endif // TCP_SETTINGS_H
