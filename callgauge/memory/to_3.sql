-- What the memory of a team contains from version 3 on: error rates of tool calls that others published.

-- `rate` is a share of requests. `n` is the number of these requests, or NULL if it was not published.
CREATE TABLE public_rates (
  model TEXT, host TEXT, day TEXT, source TEXT, rate REAL NOT NULL CHECK (rate BETWEEN 0 AND 1),
  n INTEGER CHECK (n > 0),
  PRIMARY KEY (model, host, day, source)
);
