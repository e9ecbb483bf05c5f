// How values are written for people: as in other people's pages.

export * from "../../../../client/typescript/src/format.ts";
