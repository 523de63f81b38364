import { z } from "zod";
import { localEndpoint } from "../../kernel/endpoint.ts";
import { Email, GivenLocale, Line, TimeZone, Ts } from "../../kernel/wire.ts";

export const PlanName = z.enum(["free", "pay_as_you_go", "team", "business", "platform"]);

export const ManagedOrganization = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: Ts,
  locale: z.string(),
  timeZone: z.string(),
  members: z.int(),
  owners: z.int(),
  envelopes: z.int(),
  testEnvelopes: z.int(),
  /** Of its documents, as they were before encryption. */
  documentBytes: z.int(),
  /** In force. */
  plan: PlanName,
  /** Its own; null: that of the settings. */
  ownPlan: PlanName.nullable(),
});
export type ManagedOrganization = z.infer<typeof ManagedOrganization>;

export const ManagedOrganizationList = z
  .object({ data: z.array(ManagedOrganization), defaultPlan: PlanName })
  .meta({ id: "ManagedOrganizationList" });
export type ManagedOrganizationList = z.infer<typeof ManagedOrganizationList>;

export const listManagedOrganizations = localEndpoint({
  method: "GET",
  path: "/local/organizations",
  id: "listManagedOrganizations",
  summary: "Every organization with its size and plan",
  responses: { 200: { kind: "json", schema: ManagedOrganizationList } },
});

const Name = Line(200);

export const createManagedOrganization = localEndpoint({
  method: "POST",
  path: "/local/organizations",
  id: "createManagedOrganization",
  summary: "Create an organization that belongs to this person; one without an account gets a one-time link",
  body: {
    kind: "json",
    maxBytes: 16 * 1024,
    schema: z.strictObject({
      name: Name,
      owner: z.strictObject({ email: Email, name: Name.optional() }),
      locale: GivenLocale.optional(),
      timeZone: TimeZone.optional(),
      plan: PlanName.nullable().optional(),
    }),
  },
  responses: {
    201: {
      kind: "json",
      schema: z.object({
        organization: z.string(),
        owner: z.string(),
        /** With which a new person sets a password; it works once and for an hour. Null for who has an account. */
        link: z.string().nullable(),
      }),
    },
  },
  errors: ["validation-failed", "conflict"],
});

export const changeManagedOrganization = localEndpoint({
  method: "PATCH",
  path: "/local/organizations/{id}",
  id: "changeManagedOrganization",
  summary: "Give an organization another name or plan; a plan of null is that of the settings",
  params: z.object({ id: z.string().max(60) }),
  body: {
    kind: "json",
    maxBytes: 16 * 1024,
    schema: z.strictObject({ name: Name.optional(), plan: PlanName.nullable().optional() }),
  },
  responses: { 200: { kind: "json", schema: ManagedOrganization } },
  errors: ["validation-failed", "not-found"],
});

export const organizationsEndpoints = [listManagedOrganizations, createManagedOrganization, changeManagedOrganization];
