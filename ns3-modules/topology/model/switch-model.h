// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SWITCH_MODEL_H
#define FABRIC_SWITCH_MODEL_H

#include "ns3/section.h"

#include <cstdint>
#include <optional>

namespace ns3
{
namespace fabric
{

/// The options of the switches of one class, beside their plug-ins.
struct SwitchModel
{
    std::optional<uint64_t> bufferBytes;     ///< Of each switch; none: unlimited [byte]
    uint64_t processingDelayPs{0};           ///< From the last bit in to the egress queue [ps]
    std::optional<uint64_t> cutThroughBytes; ///< Forward once this much is in; none: all [byte]
};

/// The options in which classes of switches cannot differ.
struct RouteModel
{
    uint64_t convergencePs{0}; ///< From a link's failure or return to new routes [ps]
};

/**
 * @ingroup fabric
 * @brief An element of the list switch.classes of a scenario.
 */
class SwitchClass : public Section, public SwitchModel
{
  public:
    static TypeId GetTypeId();
};

/**
 * @ingroup fabric
 * @brief The section switch of a scenario.
 */
class Switch : public SwitchClass, public RouteModel
{
  public:
    static TypeId GetTypeId();
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SWITCH_MODEL_H
