// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SECTION_H
#define FABRIC_SECTION_H

#include "ns3/attribute-helper.h"
#include "ns3/object.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief A section of a scenario that is no plug-in: its attributes are the options of the section.
 *
 * An option is declared by one AddAttribute. The name of the attribute ends in the unit:
 * "BufferBytes" is buffer_bytes in a resolved spec, and buffer, with a unit, in a scenario. Besides
 * Object a section derives from the plain struct that the engine reads.
 */
class Section : public Object
{
  public:
    static TypeId GetTypeId();
};

/// Support message of an option that a scenario has to give, although ns-3 knows a default.
inline const std::string REQUIRED = "required";

} // namespace fabric

/**
 * @ingroup fabric
 * @brief Value of an attribute that is a whole number or "none".
 */
class OptionalUintegerValue : public AttributeValue
{
  public:
    OptionalUintegerValue(std::optional<uint64_t> value = std::nullopt);
    Ptr<AttributeValue> Copy() const override;
    std::string SerializeToString(Ptr<const AttributeChecker> checker) const override;
    bool DeserializeFromString(std::string text, Ptr<const AttributeChecker> checker) override;

    void Set(std::optional<uint64_t> value);
    std::optional<uint64_t> Get() const;

    /// @return true: the number or none is in value now
    template <typename T>
    bool GetAccessor(T& value) const
    {
        value = m_value;
        return true;
    }

  private:
    std::optional<uint64_t> m_value;
};

/// @return accessor of a member of type std::optional<uint64_t>
template <typename Member>
Ptr<const AttributeAccessor>
MakeOptionalUintegerAccessor(Member member)
{
    return MakeAccessorHelper<OptionalUintegerValue>(member);
}

/// @return checker of numbers in a range; none is always allowed
Ptr<const AttributeChecker> MakeOptionalUintegerChecker(
    uint64_t min,
    uint64_t max = std::numeric_limits<int64_t>::max());

} // namespace ns3

#endif // FABRIC_SECTION_H
