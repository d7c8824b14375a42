// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOMA_CUTOFFS_H
#define HOMA_CUTOFFS_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup homa
 * @brief Which priority the unscheduled packets of a message have, by its length.
 */
class HomaCutoffs
{
  public:
    HomaCutoffs() = default;

    /**
     * @param text rising lengths, as bytes,bytes; it aborts if it is none
     * @param scheduledLevels priorities of granted packets, below the unscheduled ones
     * @param where name of the attribute, for messages
     */
    HomaCutoffs(const std::string& text, uint32_t scheduledLevels, const std::string& where);

    uint8_t PriorityOf(uint64_t bytes) const; ///< Of a message of that length

  private:
    std::vector<uint64_t> m_bytes; ///< Longest messages of the priorities, from the highest down
};

} // namespace ns3

#endif // HOMA_CUTOFFS_H
