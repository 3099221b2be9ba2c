-- Group agents. A group keeps its agent for as long as that is there, whatever its title becomes.

ALTER TABLE agents ADD COLUMN source TEXT NOT NULL DEFAULT ''; -- a group's, such as telegram:-1001234; else empty
CREATE UNIQUE INDEX agents_by_source ON agents (source) WHERE source <> '' AND state <> 'removed';
