// SPDX-License-Identifier: GPL-2.0-only

#ifndef CLASS_VALUES_H
#define CLASS_VALUES_H

#include "ns3/attribute-helper.h"
#include "ns3/frame.h"

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup queueing
 * @brief Value of an attribute that gives numbers to classes, in their order: "6:10,3:1".
 */
class ClassValues
{
  public:
    /// One entry.
    struct Entry
    {
        uint32_t queueClass; ///< Below MAX_CLASSES
        uint64_t value;
    };

    const std::vector<Entry>& Entries() const
    {
        return m_entries;
    }

    /**
     * Spread the values over the classes; aborts if a class has two, or one out of range.
     * @param others value of the classes that have none
     * @param least smallest value allowed
     * @param where type and attribute, for the message
     */
    std::array<uint64_t, fabric::MAX_CLASSES> PerClass(uint64_t others,
                                                       uint64_t least,
                                                       const std::string& where) const;

    friend std::istream& operator>>(std::istream& in, ClassValues& values);

  private:
    std::vector<Entry> m_entries;
};

std::ostream& operator<<(std::ostream& out, const ClassValues& values);
/// Fails if the text is not a list of class:value.
std::istream& operator>>(std::istream& in, ClassValues& values);

ATTRIBUTE_HELPER_HEADER(ClassValues);

} // namespace ns3

#endif // CLASS_VALUES_H
