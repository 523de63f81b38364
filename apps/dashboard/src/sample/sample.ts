import { type OverlayItem, Variable } from "../../../../server/features/templates/contract.ts";
import { pdf } from "../../../../server/kernel/wire.ts";
import { pageLanguage } from "../../../shared/i18n.ts";
import agreementDe from "./agreement-de.pdf?url";
import agreementEn from "./agreement-en.pdf?url";

/** The sample agreement that the product ships, with everything that a first envelope needs. Its text is our own. */
export type Sample = {
  name: string;
  file: File;
  roles: string[];
  items: OverlayItem[];
  variables: Variable[];
};

const words = {
  en: {
    url: agreementEn,
    name: "Sample: consulting agreement",
    client: "Client",
    consultant: "Consultant",
    project: { name: "project", label: "Project", value: "New website" },
    fee: { name: "fee", label: "Fixed fee" },
    reference: "May be named as a reference",
  },
  de: {
    url: agreementDe,
    name: "Muster: Beratungsvertrag",
    client: "Auftraggeber",
    consultant: "Auftragnehmer",
    project: { name: "vorhaben", label: "Vorhaben", value: "Neue Website" },
    fee: { name: "festpreis", label: "Festpreis" },
    reference: "Darf als Referenz genannt werden",
  },
};

/** The sample in the language of the page, where there is one, else in English. */
export async function loadSample(): Promise<Sample> {
  const of = words[pageLanguage().startsWith("de") ? "de" : "en"];
  const response = await fetch(of.url);
  if (!response.ok) throw new Error(`The sample could not be loaded (${response.status}).`);
  const file = new File([await response.arrayBuffer()], `${of.name}.pdf`, { type: pdf });
  return {
    name: of.name,
    file,
    roles: [of.client, of.consultant],
    items: items(of),
    variables: [
      Variable.parse({ ...named(of.project), type: "text", default: of.project.value }),
      Variable.parse({ ...named(of.fee), type: "number", default: 4800, format: "currency:EUR:2" }),
    ],
  };
}

const named = ({ name, label }: { name: string; label: string }) => ({ name, label });

/** Where the typeset agreement (`agreement.typ`) has its lines. */
function items(of: (typeof words)["en"]): OverlayItem[] {
  const box = (x: number, y: number, width: number, height: number) => ({ page: 1, x, y, width, height });
  const text = { type: "text", size: 12, weight: "bold" } as const;
  return [
    { id: "client-name", type: "full_name", role: of.client, ...box(64, 164, 220, 18) },
    { id: "consultant-name", type: "full_name", role: of.consultant, ...box(311, 164, 220, 18) },
    { id: "project", ...text, text: `{{${of.project.name}}}`, ...box(80, 236, 250, 20) },
    { id: "fee", ...text, text: `{{${of.fee.name}}}`, ...box(347, 236, 168, 20) },
    {
      id: "reference",
      type: "checkbox",
      role: of.client,
      label: of.reference,
      required: false,
      ...box(64, 551, 14, 14),
    },
    { id: "client-signature", type: "signature", role: of.client, ...box(64, 640, 220, 52) },
    { id: "client-date", type: "date_signed", role: of.client, ...box(64, 722, 110, 18) },
    { id: "consultant-signature", type: "signature", role: of.consultant, ...box(311, 640, 220, 52) },
    { id: "consultant-date", type: "date_signed", role: of.consultant, ...box(311, 722, 110, 18) },
  ];
}
