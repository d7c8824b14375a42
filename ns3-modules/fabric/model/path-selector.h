// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PATH_SELECTOR_H
#define FABRIC_PATH_SELECTOR_H

#include "frame.h"

#include "ns3/object.h"

#include <cstdint>

namespace ns3
{
namespace fabric
{

class Fabric;

/**
 * @ingroup fabric
 * @brief Contract: the entropy that a sending host writes into each packet.
 *
 * One object per transport endpoint; `slot` names one of its flows and is reused after Close.
 */
class PathSelector : public Object
{
  public:
    static TypeId GetTypeId();

    /// A flow begins.
    virtual void Open(Fabric& fabric, uint32_t slot, uint32_t message) = 0;
    /// A flow has ended.
    virtual void Close(uint32_t slot);
    /// @return entropy of the next packet to send, by this port of the host
    virtual uint16_t Next(uint32_t slot, PortId port) = 0;
    /// The fate of a packet sent with this entropy is known.
    virtual void Feedback(uint32_t slot, uint16_t entropy, bool congested, bool lost);
    /// @return entropy of a flow that keeps to one path, -1 otherwise; needs no Open
    virtual int32_t Constant(Fabric& fabric, uint32_t message) const;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PATH_SELECTOR_H
