import { z } from "zod";
import type { TestAppliance } from "../harness/appliance.ts";
import { agreementPdf } from "./agreement.ts";

/** A lease with everything that a sender may fill in beforehand: variables of each type, prefilled fields, a countersigner. */

const Id = z.object({ id: z.string() });
const box = (page: number, x: number, y: number, width: number, height = 20) => ({ page, x, y, width, height });

const items = [
  {
    id: "t-object",
    type: "text",
    text: "Object: {{object}} · rent {{rent}} · from {{begin}}",
    ...box(1, 70, 430, 450),
  },
  { id: "company", role: "Tenant", type: "company", label: "Company", required: false, ...box(1, 192, 186, 280) },
  {
    id: "postcode",
    role: "Tenant",
    type: "text_input",
    label: "Postcode",
    pattern: "[0-9]{5}",
    patternMessage: "A postcode has five digits.",
    ...box(1, 192, 254, 110),
  },
  { id: "months", role: "Tenant", type: "number", label: "Months", decimals: 0, min: 1, ...box(1, 192, 357, 46) },
  { id: "sign-tenant", role: "Tenant", type: "signature", ...box(2, 70, 316, 200, 48) },
  {
    id: "payment",
    role: "Landlord",
    type: "dropdown",
    label: "Payment",
    options: [{ value: "month", label: "every month" }, { value: "year" }],
    ...box(1, 390, 288, 120),
  },
  { id: "sign-landlord", role: "Landlord", type: "signature", ...box(2, 325, 316, 200, 48) },
  { id: "sign-office", role: "Office", type: "signature", ...box(2, 325, 430, 200, 48) },
];

const variables = [
  { name: "object", label: "Flat" },
  { name: "rent", type: "number", label: "Rent a month", format: "decimal:2" },
  { name: "begin", type: "date", label: "Begin", required: false },
  { name: "furnished", type: "boolean", label: "Furnished", required: false },
  {
    name: "extras",
    type: "list",
    label: "Extras",
    required: false,
    columns: [
      { name: "what", type: "text" },
      { name: "price", type: "number" },
    ],
  },
];

/** Publishes the lease as a template. @returns its id */
export async function publishLease(app: TestAppliance): Promise<string> {
  const call = async (status: number, path: string, options: Parameters<TestAppliance["call"]>[1]) => {
    const reply = await app.json(path, options);
    if (reply.status !== status) throw new Error(`${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const description = "Two sign, the office countersigns.";
  const { id } = Id.parse(await call(201, "/v1/templates", { json: { name: "Lease", description } }));
  const file = await call(201, `/v1/templates/${id}/files`, {
    body: Buffer.from(await agreementPdf()),
    headers: { "content-type": "application/pdf" },
  });
  await call(200, `/v1/templates/${id}/draft`, {
    method: "PUT",
    json: {
      content: { mode: "overlay", file: Id.parse(file).id, items },
      roles: [
        { name: "Tenant", order: 1, verification: "email_otp" },
        { name: "Landlord", order: 2, verification: "email_otp" },
        {
          name: "Office",
          kind: "countersigner",
          order: 3,
          verification: "none",
          countersigner: { name: "Lindenhof Office", email: "office@example.com" },
        },
      ],
      variables,
    },
  });
  await call(201, `/v1/templates/${id}/publish`, { method: "POST" });
  return id;
}
