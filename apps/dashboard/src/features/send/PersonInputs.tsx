import { Autocomplete } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { type Contact, listContacts } from "../../../../../server/features/envelopes/dashboard-contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useMode } from "../../mode.tsx";
import { useCan } from "../../session.tsx";

const t = translator("send");

type Input = { "data-pointer": string; error: string | undefined };
type Known = { name: string; email: string };
type Props = {
  name: string;
  email: string;
  nameInput: Input;
  emailInput: Input;
  onChange: (patch: Partial<Known>) => void;
};

/** Name and address of a person. Both complete from the people of earlier envelopes, and choosing one fills in both. */
export function PersonInputs({ name, email, nameInput, emailInput, onChange }: Props) {
  return (
    <div className="send-two">
      <Completed
        label={t("people.name")}
        value={name}
        maxLength={200}
        input={nameInput}
        onType={(text) => onChange({ name: text })}
        onChoose={onChange}
      />
      <Completed
        label={t("people.email")}
        type="email"
        value={email}
        maxLength={254}
        input={emailInput}
        onType={(text) => onChange({ email: text })}
        onChoose={onChange}
      />
    </div>
  );
}

type CompletedProps = {
  label: string;
  type?: "email";
  value: string;
  maxLength: number;
  input: Input;
  onType: (text: string) => void;
  onChoose: (person: Known) => void;
};

const described = ({ name, email }: Contact) => (name ? `${name} <${email}>` : email);

function Completed({ label, type, value, maxLength, input, onType, onChoose }: CompletedProps) {
  const [focused, setFocused] = useState(false);
  const [q] = useDebouncedValue(value.trim(), 150);
  const { testMode } = useMode();
  const allowed = useCan("envelope:read");
  const query = { ...(q ? { q } : {}), ...(testMode ? { testMode: "1" as const } : {}) };
  const found = useEndpoint(listContacts, { query }, { enabled: focused && allowed, keepPrevious: true });
  // What is typed already is no suggestion.
  const people = focused ? (found.data?.data ?? []).filter(({ name, email }) => value !== email && value !== name) : [];
  return (
    <Autocomplete
      label={label}
      {...(type ? { type } : {})}
      value={value}
      maxLength={maxLength}
      required
      autoComplete="off"
      data={people.map(described)}
      // The service has chosen already, in names and addresses alike.
      filter={({ options }) => options}
      {...input}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
      onChange={(text) => {
        const person = people.find((one) => described(one) === text);
        if (person) onChoose({ email: person.email, name: person.name ?? "" });
        else onType(text);
      }}
    />
  );
}
