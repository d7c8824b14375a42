// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOW_HASH_H
#define FLOW_HASH_H

#include "ns3/switch-view.h"

#include <vector>

/**
 * @defgroup forwarding Forwarding
 * @brief Which of several equally short ways a switch takes.
 */

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief Hash of what a switch sees of a frame: header fields and entropy, salted by the switch.
 *
 * Every switch has a salt of its own, so there is no hash polarisation between tiers.
 */
class FlowHash
{
  public:
    void Attach(fabric::SwitchView& view);

    /// @return 64 bits that depend on the flow, its direction, the entropy and the switch alone
    uint64_t Of(uint32_t node, const fabric::Frame& frame)
    {
        if (frame.message >= m_tuples.size()) [[unlikely]]
        {
            LearnTuples(frame.message);
        }
        const uint64_t header = (uint64_t{m_tuples[frame.message]} << 32) |
                                (uint64_t{frame.entropy} << 8) |
                                (frame.flags & fabric::frame_flag::REVERSE);
        return fabric::Mix64(fabric::Mix64(header) ^ m_salts[node]);
    }

  private:
    void LearnTuples(uint32_t message); ///< Up to this message; some are made at run time

    const fabric::SwitchView* m_view{nullptr};
    std::vector<uint64_t> m_salts;  ///< Per node
    std::vector<uint32_t> m_tuples; ///< Per message
};

} // namespace ns3

#endif // FLOW_HASH_H
