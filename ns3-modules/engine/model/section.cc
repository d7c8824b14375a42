// SPDX-License-Identifier: GPL-2.0-only

#include "section.h"

#include <charconv>

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(Section);

TypeId
Section::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabric::Section").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

} // namespace fabric

OptionalUintegerValue::OptionalUintegerValue(std::optional<uint64_t> value)
    : m_value(value)
{
}

Ptr<AttributeValue>
OptionalUintegerValue::Copy() const
{
    return Create<OptionalUintegerValue>(m_value);
}

std::string
OptionalUintegerValue::SerializeToString(Ptr<const AttributeChecker>) const
{
    return m_value ? std::to_string(*m_value) : "none";
}

bool
OptionalUintegerValue::DeserializeFromString(std::string text, Ptr<const AttributeChecker>)
{
    m_value.reset();
    if (text == "none")
    {
        return true;
    }
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, m_value.emplace());
    return error == std::errc() && rest == end;
}

void
OptionalUintegerValue::Set(std::optional<uint64_t> value)
{
    m_value = value;
}

std::optional<uint64_t>
OptionalUintegerValue::Get() const
{
    return m_value;
}

namespace
{

class OptionalUintegerChecker : public AttributeChecker
{
  public:
    OptionalUintegerChecker(uint64_t min, uint64_t max)
        : m_min(min),
          m_max(max)
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const auto* given = dynamic_cast<const OptionalUintegerValue*>(&value);
        return given && (!given->Get() || (m_min <= *given->Get() && *given->Get() <= m_max));
    }

    std::string GetValueTypeName() const override
    {
        return "ns3::OptionalUintegerValue";
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return "uint64_t " + std::to_string(m_min) + ":" + std::to_string(m_max);
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<OptionalUintegerValue>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto* from = dynamic_cast<const OptionalUintegerValue*>(&source);
        auto* to = dynamic_cast<OptionalUintegerValue*>(&destination);
        if (from && to)
        {
            *to = *from;
        }
        return from && to;
    }

  private:
    uint64_t m_min;
    uint64_t m_max;
};

} // namespace

Ptr<const AttributeChecker>
MakeOptionalUintegerChecker(uint64_t min, uint64_t max)
{
    return Create<OptionalUintegerChecker>(min, max);
}

} // namespace ns3
