import { ActionIcon, Checkbox, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { availableVerifications, type Verification } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Cross } from "../../../../shared/ui/icons.tsx";
import type { Person } from "./draft.ts";
import type { Form } from "./form.ts";
import { LanguageSelect } from "./LanguageSelect.tsx";
import { PersonInputs } from "./PersonInputs.tsx";
import { sentPeople } from "./request.ts";

const t = translator("send");

/** One that cannot be carried out here says so. */
function verificationName(value: Verification): string {
  const name = t(`verification.${value}`);
  return availableVerifications.includes(value) ? name : t("people.notSetUp", { name });
}

type Props = {
  form: Form;
  person: Person;
  turn: number;
  first: boolean;
  last: boolean;
  onChange: (patch: Partial<Person>, ...at: string[]) => void;
  onMove: (by: -1 | 1) => void;
  /** Where people are added and removed. */
  onRemove?: (() => void) | undefined;
};

/** One role and the person in it. */
export function PersonCard({ form, person, turn, first, last, onChange, onMove, onRemove }: Props) {
  const { version, draft, input } = form;
  const role = version.roles.find(({ name }) => name === person.role);
  const called = role?.label?.trim() ? role.label : person.role;
  const at = `#/recipients/${sentPeople(draft).findIndex((one) => one.role === person.role)}`;
  const ofRole = role?.verification ?? "email_otp";
  const signer = person.kind === "signer";
  return (
    <fieldset className="send-person">
      <legend>
        <span className="send-turn" aria-hidden="true">
          {turn}
        </span>
        {called}
        <span className="spoken">{t("people.turn", { turn })}</span>
      </legend>
      <div className="send-move">
        <ActionIcon
          variant="default"
          size="lg"
          disabled={first}
          aria-label={t("people.up", { role: called })}
          onClick={() => onMove(-1)}
        >
          <span aria-hidden="true">↑</span>
        </ActionIcon>
        <ActionIcon
          variant="default"
          size="lg"
          disabled={last}
          aria-label={t("people.down", { role: called })}
          onClick={() => onMove(1)}
        >
          <span aria-hidden="true">↓</span>
        </ActionIcon>
        {onRemove && (
          <ActionIcon variant="default" size="lg" aria-label={t("people.remove", { role: called })} onClick={onRemove}>
            <Cross />
          </ActionIcon>
        )}
      </div>
      {!first && (
        <Checkbox
          label={t("people.together")}
          checked={person.together}
          onChange={(event) => onChange({ together: event.currentTarget.checked }, `${at}/order`)}
        />
      )}
      {signer ? (
        <SignerInputs {...{ person, at, ofRole, input, onChange }} />
      ) : (
        <p className="soft">{t("people.countersigner", { name: person.name, email: person.email })}</p>
      )}
    </fieldset>
  );
}

type InputsProps = Pick<Props, "person" | "onChange"> & {
  at: string;
  ofRole: Verification;
  input: Form["input"];
};

function SignerInputs({ person, at, ofRole, input, onChange }: InputsProps) {
  const effective = person.verification || ofRole;
  // One that was chosen before stays to be seen.
  const verifications = [
    ...new Set([...availableVerifications, ...(person.verification ? [person.verification] : [])]),
  ];
  const [opened, setOpened] = useState(
    person.delivery !== "email" || person.locale !== "" || person.verification !== "",
  );
  const wrong = ["locale", "verification", "delivery", "phone"].some((member) => input(`${at}/${member}`).error);
  return (
    <>
      <PersonInputs
        name={person.name}
        email={person.email}
        nameInput={input(`${at}/name`)}
        emailInput={input(`${at}/email`)}
        onChange={(patch) => onChange(patch, ...Object.keys(patch).map((member) => `${at}/${member}`))}
      />
      <details className="send-more" open={opened || wrong} onToggle={({ currentTarget: { open } }) => setOpened(open)}>
        <summary>{t("people.more")}</summary>
        <div className="send-two">
          <LanguageSelect
            label={t("people.locale")}
            none={t("people.localeDefault")}
            value={person.locale}
            input={input(`${at}/locale`)}
            onChange={(locale) => onChange({ locale }, `${at}/locale`)}
          />
          <NativeSelect
            label={t("people.verification")}
            value={person.verification}
            data={[
              { value: "", label: t("people.verificationDefault", { verification: verificationName(ofRole) }) },
              ...verifications.map((value) => ({ value, label: verificationName(value) })),
            ]}
            {...input(`${at}/verification`)}
            onChange={({ currentTarget: { value } }) =>
              onChange({ verification: verifications.find((one) => one === value) ?? "" }, `${at}/verification`)
            }
          />
          <NativeSelect
            label={t("people.delivery")}
            inputWrapperOrder={["label", "input", "description", "error"]}
            description={person.delivery === "embedded" ? t("delivery.embeddedText") : t("delivery.emailText")}
            value={person.delivery}
            data={[
              { value: "email", label: t("delivery.email") },
              { value: "embedded", label: t("delivery.embedded") },
            ]}
            {...input(`${at}/delivery`)}
            onChange={({ currentTarget: { value } }) =>
              onChange({ delivery: value === "embedded" ? "embedded" : "email" }, `${at}/delivery`)
            }
          />
          {effective === "sms_otp" && (
            <TextInput
              label={t("people.phone")}
              description={t("people.phoneText")}
              type="tel"
              value={person.phone}
              maxLength={40}
              required
              {...input(`${at}/phone`)}
              onChange={(event) => onChange({ phone: event.currentTarget.value }, `${at}/phone`)}
            />
          )}
        </div>
      </details>
    </>
  );
}
