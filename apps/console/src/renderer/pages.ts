import type { ReactNode } from "react";
import type { Catalogues } from "../../../shared/i18n.ts";
import {
  Check,
  Clip,
  Clock,
  Download,
  Eye,
  Fingerprint,
  Flask,
  Gear,
  Home,
  Layers,
  Mail,
  Pages as PagesIcon,
  Pen,
  Question,
  Send,
  Shield,
  Undo,
} from "../../../shared/ui/icons.tsx";
import { AccessPage } from "./pages/AccessPage.tsx";
import { AnchorsPage } from "./pages/AnchorsPage.tsx";
import { AuditPage } from "./pages/AuditPage.tsx";
import { BackupPage } from "./pages/BackupPage.tsx";
import { ConsolePage } from "./pages/ConsolePage.tsx";
import { DiagnosticsPage } from "./pages/DiagnosticsPage.tsx";
import { KeysPage } from "./pages/KeysPage.tsx";
import { LogsPage } from "./pages/LogsPage.tsx";
import { MailPage } from "./pages/MailPage.tsx";
import { NetworkPage } from "./pages/NetworkPage.tsx";
import { OrganizationsPage } from "./pages/OrganizationsPage.tsx";
import { OverviewPage } from "./pages/OverviewPage.tsx";
import { RestorePage } from "./pages/RestorePage.tsx";
import { SettingsPage } from "./pages/SettingsPage.tsx";
import { SetupPage } from "./pages/SetupPage.tsx";
import { UpdatePage } from "./pages/UpdatePage.tsx";
import { WorkPage } from "./pages/WorkPage.tsx";

/** Every page of the console, in the order of the navigation; the first nine also by Ctrl and a digit. */

type Words = Catalogues["console"];
type Named = { [K in keyof Words]: Words[K] extends { nav: string } ? K : never }[keyof Words];

export const groups = ["operation", "appliance", "people", "safety", "console"] as const;

export type Page = {
  /** Its address (`#/name`, `signet-console://page/name`) and its key in the catalogue, whose `nav` is its name. */
  name: Named;
  group: (typeof groups)[number];
  icon: (props: { size?: number }) => ReactNode;
  component: () => ReactNode;
  /** Of use while no appliance answers; the others give way to what is wrong and what to do. */
  offline?: true;
};

export const pages: readonly Page[] = [
  { name: "overview", group: "operation", icon: Home, component: OverviewPage },
  { name: "setup", group: "operation", icon: Check, component: SetupPage },
  { name: "work", group: "operation", icon: Layers, component: WorkPage },
  { name: "logs", group: "operation", icon: PagesIcon, component: LogsPage },
  { name: "diagnostics", group: "operation", icon: Flask, component: DiagnosticsPage },
  { name: "network", group: "appliance", icon: Shield, component: NetworkPage },
  { name: "mail", group: "appliance", icon: Mail, component: MailPage },
  { name: "keys", group: "appliance", icon: Fingerprint, component: KeysPage },
  { name: "settings", group: "appliance", icon: Gear, component: SettingsPage },
  { name: "organizations", group: "people", icon: Pen, component: OrganizationsPage },
  { name: "access", group: "people", icon: Eye, component: AccessPage },
  { name: "anchors", group: "safety", icon: Send, component: AnchorsPage },
  { name: "backup", group: "safety", icon: Clip, component: BackupPage },
  { name: "update", group: "safety", icon: Download, component: UpdatePage },
  { name: "restore", group: "safety", icon: Undo, component: RestorePage, offline: true },
  { name: "audit", group: "safety", icon: Clock, component: AuditPage },
  { name: "console", group: "console", icon: Question, component: ConsolePage, offline: true },
];
