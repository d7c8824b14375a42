// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_WIRE_LOSSES_H
#define FABRIC_WIRE_LOSSES_H

#include "ns3/clocks.h"
#include "ns3/fabric-network.h"
#include "ns3/loss-model.h"
#include "ns3/random-cursor.h"

#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief What is lost on wires: what the tables say of single links, and models of link classes.
 *
 * All by receiving port.
 */
class WireLosses
{
  public:
    explicit WireLosses(FabricNetwork& network);

    void Build(const FabricTables& tables);             ///< Ratios of links, scripted losses
    void UseModel(uint8_t linkClass, LossModel* model); ///< For all links of a class

    /// @return whether frames into this port can be lost, apart from cuts of the link
    bool CanLose(PortId port) const;
    /// @return whether any port can lose
    bool Any() const;

    /// Judge a frame that is not link control, and count it if it is lost. @return whether it is
    bool Loses(PortId port, const Frame& frame, WorldPs nowPs);

  private:
    /// Ratios that hold from a time on.
    struct Change
    {
        WorldPs timePs;
        double lossRatio;     ///< [1]
        double bitErrorRatio; ///< [1]
    };

    /// Losses of one direction of a link.
    struct Direction
    {
        void Follow(WorldPs nowPs); ///< Take the ratios that hold now

        RandomCursor losses;
        RandomCursor errors;
        uint64_t seen{0};                 ///< Data frames so far
        std::vector<uint64_t> ordinals{}; ///< Of those that are lost, ascending
        double lossRatio{0};              ///< [1]
        double bitErrorRatio{0};          ///< [1]
        std::vector<Change> changes{};    ///< By their times
        size_t nextChange{0};             ///< First that does not hold yet
    };

    Direction& At(PortId port);
    LossModel::Fate Judge(Direction& direction, const Frame& frame);

    FabricNetwork& m_network;
    std::unordered_map<PortId, Direction> m_directions;
    std::vector<LossModel*> m_models; ///< Per link class; null: none
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_WIRE_LOSSES_H
