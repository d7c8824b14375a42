// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_HOST_MODEL_H
#define FABRIC_HOST_MODEL_H

#include "ns3/section.h"

#include <cstdint>
#include <optional>

namespace ns3
{
namespace fabric
{

/// @return time to move some bytes at a rate, none: at once; rounded up [ps]
uint64_t MovePs(uint64_t bytes, const std::optional<uint64_t>& rateBps);

/// What messages of one transport cost the hosts at their ends.
struct HostModel
{
    uint64_t messageTimePs{0};           ///< Of the sending host, for each message [ps]
    uint64_t requestTimePs{0};           ///< Of its network interface, for each request [ps]
    std::optional<uint64_t> requestSizeBytes; ///< Payload of a work request; none: any [byte]
    uint64_t sendDelayPs{0};             ///< From then to the first frame [ps]
    uint64_t deliveryTimePs{0};          ///< Of the receiving host, for each message [ps]
    uint64_t deliveryDelayPs{0};         ///< From the last byte until the application has it [ps]
    uint64_t completionDelayPs{0};       ///< From the last answer until the source knows [ps]
    uint64_t missTimePs{0};              ///< Of an interface that has to load a connection [ps]
    std::optional<uint64_t> connections; ///< That an interface keeps; none: all
    std::optional<uint64_t> outstanding; ///< Messages of a connection at once; none: all
    std::optional<uint64_t> busRateBps;  ///< Between memory and interface [bit/s]; none: any
    std::optional<uint64_t> busCreditBytes; ///< Under way there at once; none: any [byte]
    uint64_t busRoundTripPs{0};             ///< Until a credit may be used again [ps]

    bool operator==(const HostModel&) const = default;

    /// @return time of the bus with some payload, rounded up [ps]
    uint64_t BusPs(uint64_t bytes) const;
    /// @return work requests of a message
    uint64_t Requests(uint64_t bytes) const;

    bool IsFree() const ///< Whether it costs nothing
    {
        return *this == HostModel{};
    }
};

/**
 * @ingroup fabric
 * @brief The section host of a transport.
 */
class Host : public Section, public HostModel
{
  public:
    static TypeId GetTypeId();
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_HOST_MODEL_H
