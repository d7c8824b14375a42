// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_NETWORK_H
#define FABRIC_NETWORK_H

#include "fabric-state.h"
#include "fabric-tables.h"

#include "ns3/counter-random.h"
#include "ns3/reserved-array.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Serialisation times of one link rate.
struct RateClass
{
    uint64_t rateBps;
    uint64_t psPerByte; ///< 0 when not a whole number [ps]
    static constexpr uint32_t LANES = 3;
    uint32_t laneBytes[LANES]{0, 0, 0}; ///< Sizes of frames that have a lane of events [byte]
    uint64_t lanePs[LANES]{0, 0, 0};    ///< Their times on the wire [ps]
    uint8_t lane[LANES]{0, 0, 0};
    uint32_t lanes{0}; ///< In use

    /**
     * @param bytes of a frame
     * @param guess 0 or 1: the lane that it usually has
     * @return index of a size among those that have a lane, LANES if it has none
     */
    uint32_t LaneOf(uint32_t bytes, uint32_t guess) const
    {
        if (bytes == laneBytes[guess]) [[likely]]
        {
            return guess;
        }
        return static_cast<uint32_t>(std::find(laneBytes, laneBytes + LANES, bytes) - laneBytes);
    }

    /// @return time of a number of bytes on the wire, rounded up: a link carries at most its rate
    uint64_t Ps(uint64_t wireBytes) const
    {
        constexpr uint64_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
        return psPerByte != 0 ? wireBytes * psPerByte
                              : (wireBytes * PS_PER_SECOND_AND_BYTE + rateBps - 1) / rateBps;
    }
};

/// The ports of one host.
struct HostState
{
    uint32_t node;
    PortId firstPort{NO_PORT};
    uint32_t ports{0};
    uint32_t turn{0}; ///< Which of its ports is asked first
    uint32_t firstEndpoint{0};
    uint32_t endpoints{0};
    bool variesUrgency{false}; ///< One of its transports has no fixed priority
};

/**
 * @brief Nodes, ports and links of a run, as flat arrays in an order that their ids decide.
 */
class FabricNetwork
{
  public:
    /**
     * @param tables sorted
     * @param seed of the run
     * @param first the network of the first of several engines, if this is of another one: they
     * share the memory of ports that neither changes
     */
    FabricNetwork(const FabricTables& tables, uint64_t seed, const FabricNetwork* first);

    PortId NumPorts() const
    {
        return static_cast<PortId>(ports.Capacity());
    }

    /// @return node id at the other end, and index among parallel links
    std::pair<int64_t, uint32_t> PeerOf(PortId port) const;
    /// @return the egress from a node to a peer, NO_PORT if there is no such link
    PortId FindPort(int64_t node, int64_t peer, int64_t parallel) const;
    /// @return stream of one egress, by the ids of both ends, and of one of several there
    CounterRandom StreamOfPort(PortId port, RandomUse use, uint32_t number = 0) const;
    bool IsOfOneEngine() const;          ///< One engine executes the events of all nodes
    /// All is built: give back the memory of ports that are of no use to an engine.
    void ShareForeign(uint32_t engine);
    uint8_t RateIndex(uint64_t rateBps); ///< Find or add the class of a rate

    uint64_t RateBps(PortId port) const
    {
        return rates[ports[port].rate].rateBps;
    }

    void ChangeRate(PortId port, uint64_t rateBps);
    const RateClass& FirstRate(PortId port) const; ///< When the run began

    uint64_t FirstRateBps(PortId port) const
    {
        return FirstRate(port).rateBps;
    }

    std::vector<uint64_t> LineRatesBps() const; ///< Of each host, its ports added up [bit/s]
    uint64_t MemoryBytes(uint32_t engine) const; ///< Of its part; of the first also what all share

    std::vector<NodeState> nodes;
    std::vector<HostState> hosts;
    ReservedArray<Port> ports;
    ReservedArray<PortCounters> counters; ///< By port; no memory where nothing was counted
    std::vector<RateClass> rates;
    std::unordered_map<PortId, uint8_t> firstRates; ///< Of ports that have changed

  private:
    void BuildNodes(const std::vector<NodeRow>& rows);
    void BuildPorts(const std::vector<LinkRow>& rows);
    void ShareLinks(const FabricNetwork& first);

    uint64_t m_seed;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_NETWORK_H
