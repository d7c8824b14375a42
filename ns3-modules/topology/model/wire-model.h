// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_WIRE_MODEL_H
#define FABRIC_WIRE_MODEL_H

#include "ns3/section.h"

#include <cstdint>

namespace ns3
{
namespace fabric
{

/// The options of all wires.
struct WireModel
{
    uint64_t framingBytes{20}; ///< Preamble, delimiter and gap: on the wire, not in buffers [byte]
};

/**
 * @ingroup fabric
 * @brief The section wire of a scenario.
 */
class Wire : public Section, public WireModel
{
  public:
    static TypeId GetTypeId();
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_WIRE_MODEL_H
