import { Role } from "../../../../../../server/features/templates/contract.ts";
import type { Draft } from "../../templates/model.ts";
import type { Person } from "../draft.ts";
import { turnsOf } from "../request.ts";

/** The people of a document that is no template: each is a role of it, named on the pages by the person. Pure. */

/** A person who signs after all others. @param word the name of a role, made unique by a number: "Signer 2" */
export function newPerson(people: readonly Person[], word: string, known?: Pick<Person, "name" | "email">): Person {
  const taken = new Set(people.map(({ role }) => role));
  let number = people.length + 1;
  while (taken.has(`${word} ${number}`)) number += 1;
  return {
    role: `${word} ${number}`,
    kind: "signer",
    name: "",
    email: "",
    phone: "",
    locale: "",
    delivery: "email",
    verification: "",
    together: false,
    ...known,
  };
}

/** The people with this one among them: in the first place that nobody has, else behind all others. */
export function withMyself(people: readonly Person[], me: Pick<Person, "name" | "email">, word: string): Person[] {
  const empty = people.findIndex(({ name, email }) => !name.trim() && !email.trim());
  const free = people[empty];
  return free ? people.toSpliced(empty, 1, { ...free, ...me }) : [...people, newPerson(people, word, me)];
}

/** The draft with a role for each person, and without the fields of those who are none of them any more. */
export function withPeople(draft: Draft, people: readonly Person[]): Draft {
  const turns = turnsOf(people);
  const roles = people.map((person, index) => {
    const before = draft.roles.find(({ name }) => name === person.role);
    // What cannot be part of a name is refused where it is typed.
    const label = person.name.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim() || null;
    return Role.parse({ ...before, name: person.role, order: turns[index], label });
  });
  if (JSON.stringify(roles) === JSON.stringify(draft.roles)) return draft;
  const known = new Set(roles.map(({ name }) => name));
  const items = draft.items.filter((item) => !("role" in item) || known.has(item.role));
  return { ...draft, roles, items: items.length === draft.items.length ? draft.items : items };
}
