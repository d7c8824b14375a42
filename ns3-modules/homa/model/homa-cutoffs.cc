// SPDX-License-Identifier: GPL-2.0-only

#include "homa-cutoffs.h"

#include "ns3/abort.h"
#include "ns3/frame.h"
#include "ns3/whole-number.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

using namespace fabric;

HomaCutoffs::HomaCutoffs(const std::string& text,
                         uint32_t scheduledLevels,
                         const std::string& where)
{
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');)
    {
        const uint64_t bytes = WholeNumber(part).value_or(0);
        NS_ABORT_MSG_IF(bytes == 0 || (!m_bytes.empty() && bytes <= m_bytes.back()),
                        where << " is '" << text
                              << "'; write rising numbers of bytes, for example 2000,8000");
        m_bytes.push_back(bytes);
    }
    const size_t levels = m_bytes.size() + 1 + scheduledLevels;
    NS_ABORT_MSG_IF(levels > NUM_PRIORITIES,
                    where << " makes " << m_bytes.size() + 1
                          << " unscheduled priorities, which collide with " << scheduledLevels
                          << " ScheduledLevels: there are " << NUM_PRIORITIES
                          << " priorities in all");
}

uint8_t
HomaCutoffs::PriorityOf(uint64_t bytes) const
{
    const auto level = std::lower_bound(m_bytes.begin(), m_bytes.end(), bytes) - m_bytes.begin();
    return static_cast<uint8_t>(NUM_PRIORITIES - 1 - level);
}

} // namespace ns3
