import { z } from "zod";
import { endpoint } from "../../kernel/endpoint.ts";
import { OrgRole } from "../identity/contract.ts";
import { endpoints as auditExport } from "./export-contract.ts";
import { endpoints as people } from "./people-contract.ts";
import { OrganizationSettings } from "./settings-contract.ts";

/** The organization itself and what a person chooses across organizations (contract §9). Isomorphic. */

export const getOrganizationSettings = endpoint({
  method: "GET",
  path: "/v1/organization/settings",
  id: "getOrganizationSettings",
  tag: "Organization",
  summary: "Read the organization's settings, features and limits",
  credential: "key",
  permission: "org:manage",
  responses: { 200: { kind: "json", schema: OrganizationSettings } },
});

export const Preferences = z
  .object({
    startingOrganization: z.string().nullable(),
    organizations: z.array(
      z.object({ id: z.string(), name: z.string(), role: OrgRole, logoUrl: z.string().nullable() }),
    ),
  })
  .meta({ id: "Preferences" });
export type Preferences = z.infer<typeof Preferences>;

export const getPreferences = endpoint({
  method: "GET",
  path: "/v1/me/preferences",
  id: "getPreferences",
  tag: "Account",
  summary: "The person's settings across organizations",
  credential: "person",
  responses: { 200: { kind: "json", schema: Preferences } },
});

export const updatePreferences = endpoint({
  method: "PUT",
  path: "/v1/me/preferences",
  id: "updatePreferences",
  tag: "Account",
  summary: "Choose the organization that each sign-in starts in; null for the first",
  credential: "person",
  body: {
    kind: "json",
    schema: z
      .strictObject({ startingOrganization: z.string().max(64).nullable() })
      .meta({ id: "UpdatePreferences", example: { startingOrganization: "org_000000000000000000000001" } }),
    maxBytes: 1024 * 1024,
  },
  responses: { 200: { kind: "json", schema: Preferences } },
});

export const endpoints = [getOrganizationSettings, getPreferences, updatePreferences, ...people, ...auditExport];
