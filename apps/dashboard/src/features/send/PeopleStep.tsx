import { ActionIcon, Button, Checkbox, TextInput } from "@mantine/core";
import { templateLimits } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Cross } from "../../../../shared/ui/icons.tsx";
import type { Other, Person } from "./draft.ts";
import type { Form } from "./form.ts";
import { PersonCard } from "./PersonCard.tsx";
import { turnsOf } from "./request.ts";

const t = translator("send");

/** How people are added and removed, where no template says who signs. */
type Roster = {
  add: () => void;
  addMyself: () => void;
  /** Whether the person who sends is among them. */
  isListed: boolean;
  remove: (role: string) => void;
};

/** Who signs, in which order, who gets a copy, and who may watch. */
export function PeopleStep({ form, roster }: { form: Form; roster?: Roster }) {
  const { draft, change, refusal } = form;
  const turns = turnsOf(draft.people);
  const setPeople = (people: Person[], reordered = draft.reordered) => change({ people, reordered }, "#/recipients");
  const move = (index: number, by: -1 | 1) => {
    const people = [...draft.people];
    const [moved] = people.splice(index, 1);
    if (moved === undefined) return;
    people.splice(index + by, 0, moved);
    // The first has nobody above to sign together with.
    setPeople(
      people.map((person, place) => (place === 0 ? { ...person, together: false } : person)),
      true,
    );
  };
  return (
    <>
      {refusal?.code === "feature-disabled" && <Refusal text={refusal.detail} requestId={refusal.requestId} />}
      <ol className="send-people">
        {draft.people.map((person, index) => (
          <li key={person.role}>
            <PersonCard
              form={form}
              person={person}
              turn={turns[index] ?? 1}
              first={index === 0}
              last={index === draft.people.length - 1}
              onChange={(patch, ...at) => {
                const people = draft.people.map((one) => (one.role === person.role ? { ...one, ...patch } : one));
                change({ people, reordered: draft.reordered || patch.together !== undefined }, ...at);
              }}
              onMove={(by) => move(index, by)}
              onRemove={roster && draft.people.length > 1 ? () => roster.remove(person.role) : undefined}
            />
          </li>
        ))}
      </ol>
      {roster && (
        <div className="send-roster">
          <Button variant="default" disabled={draft.people.length >= templateLimits.roles} onClick={roster.add}>
            {t("people.add")}
          </Button>
          {!roster.isListed && (
            <Button variant="default" disabled={draft.people.length >= templateLimits.roles} onClick={roster.addMyself}>
              {t("people.addMyself")}
            </Button>
          )}
        </div>
      )}
      <Others form={form} list="cc" />
      <Others form={form} list="viewers" />
    </>
  );
}

function Refusal({ text, requestId }: { text: string; requestId: string }) {
  return (
    <div className="notice bad send-refusal" role="alert" tabIndex={-1}>
      {text}
      <small>
        {translator("common")("requestId")}: <code>{requestId}</code>
      </small>
    </div>
  );
}

function Others({ form, list }: { form: Form; list: "cc" | "viewers" }) {
  const { draft, change, input, refusal } = form;
  const people = draft[list];
  const most = list === "cc" ? 20 : 100;
  const set = (next: Other[], ...at: string[]) => change(list === "cc" ? { cc: next } : { viewers: next }, ...at);
  const edit = (id: string, patch: Partial<Other>, at: string) =>
    set(
      people.map((one) => (one.id === id ? { ...one, ...patch } : one)),
      at,
    );
  return (
    <fieldset className="send-others">
      <legend>{t(`${list}.title`)}</legend>
      <p className="soft">{t(`${list}.text`)}</p>
      {list === "viewers" && refusal?.code === "plan-upgrade-required" && (
        <Refusal text={refusal.detail} requestId={refusal.requestId} />
      )}
      {people.map((person, index) => (
        <div className="send-other" key={person.id}>
          <TextInput
            label={t("people.email")}
            aria-label={t(`${list}.email`, { number: index + 1 })}
            type="email"
            value={person.email}
            maxLength={254}
            autoComplete="off"
            {...input(`#/${list}/${index}/email`)}
            onChange={(event) => edit(person.id, { email: event.currentTarget.value }, `#/${list}/${index}/email`)}
          />
          <TextInput
            label={t("people.nameOptional")}
            aria-label={t(`${list}.name`, { number: index + 1 })}
            value={person.name}
            maxLength={200}
            autoComplete="off"
            {...input(`#/${list}/${index}/name`)}
            onChange={(event) => edit(person.id, { name: event.currentTarget.value }, `#/${list}/${index}/name`)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t(`${list}.remove`, { number: index + 1 })}
            onClick={() =>
              set(
                people.filter(({ id }) => id !== person.id),
                `#/${list}`,
              )
            }
          >
            <Cross />
          </ActionIcon>
        </div>
      ))}
      <Button
        variant="default"
        size="sm"
        disabled={people.length >= most}
        onClick={() => set([...people, { id: crypto.randomUUID(), email: "", name: "" }], `#/${list}`)}
      >
        {t(`${list}.add`)}
      </Button>
      {list === "viewers" && people.length > 0 && (
        <Checkbox
          mt="md"
          label={t("viewers.access")}
          description={t("viewers.accessText")}
          checked={draft.viewerDocumentAccess}
          {...input("#/viewerDocumentAccess")}
          onChange={(event) => change({ viewerDocumentAccess: event.currentTarget.checked }, "#/viewerDocumentAccess")}
        />
      )}
    </fieldset>
  );
}
