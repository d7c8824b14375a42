// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_SEGMENTATION_H
#define HOST_SEGMENTATION_H

#include "ns3/frame.h"
#include "ns3/transport.h"

#include <algorithm>
#include <cstdint>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief How a message is cut into packets: rounding, the last packet, the shortest frame.
 */
struct Segmentation
{
    uint32_t mtuBytes{0};         ///< Payload of a full packet [byte]
    uint32_t headerBytes{0};      ///< Of each data packet [byte]
    uint32_t firstHeaderBytes{0}; ///< More in packet 0 [byte]

    static constexpr uint64_t MAX_PACKETS = WireProfile::MAX_PACKETS;

    /// @return number of packets of a message; aborts if that is more than MAX_PACKETS
    uint32_t Packets(uint64_t bytes) const
    {
        const uint64_t packets = bytes / mtuBytes + (bytes % mtuBytes != 0);
        if (packets > MAX_PACKETS) [[unlikely]]
        {
            FailTooMany(bytes);
        }
        return static_cast<uint32_t>(packets);
    }

    /// @return payload of one packet of a message [byte]
    uint32_t PayloadBytes(uint64_t bytes, uint32_t packet) const
    {
        const uint64_t before = uint64_t{packet} * mtuBytes;
        return static_cast<uint32_t>(std::min<uint64_t>(mtuBytes, bytes - before));
    }

    /// @return size of the frame that carries it [byte]
    uint16_t FrameBytes(uint64_t bytes, uint32_t packet) const
    {
        const uint32_t headers = headerBytes + (packet == 0 ? firstHeaderBytes : 0);
        return static_cast<uint16_t>(
            std::max(MIN_FRAME_BYTES, PayloadBytes(bytes, packet) + headers));
    }

  private:
    [[noreturn]] void FailTooMany(uint64_t bytes) const;
};

} // namespace fabric
} // namespace ns3

#endif // HOST_SEGMENTATION_H
