"""What hostile clients cost the service, and what its limits cost everyone else, beside another checkout of it."""
