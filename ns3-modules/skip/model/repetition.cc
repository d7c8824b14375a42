// SPDX-License-Identifier: GPL-2.0-only

#include "repetition.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

/// The Z algorithm (Gusfield 1997, section 1.4) from the end: how far what lies `period` before the
/// end is as the end itself.
size_t
Repetition::Period() const
{
    const size_t size = Size();
    const auto back = [&](size_t i) { return m_parts[size - 1 - i]; };
    std::vector<size_t> alike(size, 0);
    size_t left = 0;
    size_t right = 0; // [left, right) is as the beginning
    for (size_t i = 1; i < size; i++)
    {
        size_t& here = alike[i];
        here = i < right ? std::min(right - i, alike[i - left]) : 0;
        while (i + here < size && back(here) == back(i + here))
        {
            here++;
        }
        if (i + here > right)
        {
            left = i;
            right = i + here;
        }
        if (here >= std::max(i, LEAST))
        {
            return i;
        }
    }
    return 0;
}

} // namespace fabric
} // namespace ns3
